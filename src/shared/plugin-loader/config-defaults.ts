import type { ConfiguredInstance } from '../../plugin-sdk/tools.ts';
import type { RecordSchema } from '../schema/fields.ts';

/** What stands for a field that a configuration does not have. */
interface FieldDefault {
  /** Undefined: the field must be there. */
  readonly absent: unknown;
  /** Of the fields of a record; null: the field is no record. */
  readonly inner: ConfigDefaults | null;
}

/** By the names of the fields. It can be sent between threads. */
export type ConfigDefaults = ReadonlyMap<string, FieldDefault>;

type Config = Readonly<Record<string, unknown>>;

export function configDefaults({ fields }: RecordSchema): ConfigDefaults {
  return new Map(
    [...fields].map(([name, field]) => {
      const { success, data } = field.zod.safeParse(undefined);
      const inner = 'fields' in field ? configDefaults(field as RecordSchema) : null;
      return [name, { absent: success ? data : undefined, inner }];
    }),
  );
}

const defaults = new WeakMap<object, ConfigDefaults>();

/** `plugin`: one of a user, whose rows may be older than its schema. */
export function rememberDefaults(plugin: object, of: ConfigDefaults): void {
  defaults.set(plugin, of);
}

/** A stored configuration with the fields that its plugin has had only since. The same object if none is missing. */
export function currentConfig(plugin: object, config: Config): Config {
  const known = defaults.get(plugin);
  return known === undefined ? config : withDefaults(config, known);
}

/** The same for what the parts of a plugin in the control plane receive. */
export function currentInstance(plugin: object, instance: ConfiguredInstance): ConfiguredInstance {
  const { id, config } = instance;
  if (!isRecord(config)) return instance;
  const current = currentConfig(plugin, config);
  return current === config ? instance : { id, config: current };
}

function withDefaults(config: Config, known: ConfigDefaults): Config {
  let filled: Record<string, unknown> | null = null;
  for (const [name, { absent, inner }] of known) {
    const value = Object.hasOwn(config, name) ? config[name] : undefined;
    const next = value === undefined ? absent : inner !== null && isRecord(value) ? withDefaults(value, inner) : value;
    if (next === undefined || next === value) continue;
    filled ??= { ...config };
    filled[name] = next;
  }
  return filled ?? config;
}

function isRecord(value: unknown): value is Config {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
