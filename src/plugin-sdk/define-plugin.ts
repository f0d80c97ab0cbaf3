import type { RecordSchema } from '../schema/fields.ts';
import type { PluginPhases } from './contexts.ts';

export interface PluginLogger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** What the gateway gives to `setup`. */
export interface PluginTools {
  readonly log: PluginLogger;
  /** The row's id: stable over changes of its configuration. */
  readonly instanceId: string;
  readonly node: { readonly id: string; readonly hostname: string; readonly pid: number; readonly worker: number };
}

export interface PluginNeeds {
  /** The request body is collected before `access`, up to this many bytes; a larger one is answered with 413. */
  readonly requestBody?: { readonly maxBytes: number };
  /** `stream`: `bodyFilter` is used. `buffer`: `response` gets the whole body, up to `maxBytes`, else 502. */
  readonly responseBody?: { readonly mode: 'stream' } | { readonly mode: 'buffer'; readonly maxBytes: number };
}

export type PluginProtocol = 'grpc' | 'grpcs' | 'http' | 'https' | 'tcp' | 'tls' | 'udp' | 'tls_passthrough';

/** The scopes that an instance may be attached to besides globally. */
export type PluginScope = 'consumer' | 'route' | 'service';

export interface PluginDescription<S extends RecordSchema, C> {
  /** Kong's name for it, the name of its folder. */
  readonly name: string;
  readonly version: string;
  /** Higher runs first, in every phase. Kong's own numbers; no two plugins share one. */
  readonly priority: number;
  /** Protocols that an instance may name, and the default of its `protocols` field. */
  readonly protocols: readonly PluginProtocol[];
  readonly defaultProtocols?: readonly PluginProtocol[];
  readonly scopes?: readonly PluginScope[];
  readonly config: S;
  readonly needs?: PluginNeeds | ((config: C) => PluginNeeds);
  /** Runs once for each instance and version of its configuration, never per request. Returns only the phases it uses. */
  setup(config: C, tools: PluginTools): PluginPhases;
}
