import type { EntityCheck } from '../schema/entity-checks.ts';
import type { RecordSchema } from '../schema/fields.ts';

/** What the `plugins` entity needs to know about an installed plugin. */
export interface PluginDescription {
  /** Schema of its `config`. */
  readonly config: RecordSchema;
  /** Protocols that an instance may name. */
  readonly protocols: readonly string[];
  readonly defaultProtocols: readonly string[];
  /** What an instance may be attached to, in addition to global. */
  readonly scopes: readonly ('consumer' | 'route' | 'service')[];
  /** Rules over the whole row; fields of the configuration are `config.<name>`. */
  readonly checks?: readonly EntityCheck[];
}

/** The installed plugins, passed to the entities at start: entities cannot import plugins. */
export interface PluginCatalog {
  names(): readonly string[];
  /** Null when no plugin has that name. Another object when the code of the plugin was replaced. */
  describe(name: string): PluginDescription | null;
}
