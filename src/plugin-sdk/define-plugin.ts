import type { EntityDefinition } from '../entities/entity.ts';
import type { EntityCheck } from '../schema/entity-checks.ts';
import type { RecordSchema } from '../schema/fields.ts';
import type { PluginAdminRoutes } from './admin-routes.ts';
import type { PluginBackgroundModule } from './background.ts';
import type { PluginPhases } from './contexts.ts';
import type { EntityAccess } from './entity-access.ts';
import type { LimitTools, ZoneRequest } from './limits.ts';
import type { PluginMetricsModule } from './metrics.ts';
import type { TraceNeeds } from './trace.ts';

export interface PluginLogger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** The running gateway, as plugins may see it. `worker` counts from 0. */
export interface PluginNode {
  readonly id: string;
  readonly hostname: string;
  readonly pid: number;
  readonly worker: number;
}

/** What the gateway gives to `setup`. */
export interface PluginTools {
  /** Writes to the error log; every line carries the plugin's name and the instance's id. */
  readonly log: PluginLogger;
  /** The row's id: stable over changes of its configuration. */
  readonly instanceId: string;
  readonly node: PluginNode;
  /** Consumers, credentials, tokens. */
  readonly entities: EntityAccess;
  readonly limits: LimitTools;
  /** Memory of a zone that the plugin declared; all workers of the node see the same. */
  zone(name: string): SharedArrayBuffer;
  /** Adds to a counter of the plugin, shown by `GET /status`: `redis_failures`. Lower-case letters and underscores. */
  count(name: string, by?: number): void;
  /**
   * Sends a message to the plugin's background part on this node (`background`), and gives its answer: null when the part
   * does not run. What can be copied between threads may be sent. Never waits for anything slow there.
   */
  background(message: unknown): Promise<unknown>;
  readonly settings: PluginSettings;
}

/** Settings of the node that plugins heed. */
export interface PluginSettings {
  /** Keys are stored hashed. */
  readonly hashKeys: boolean;
  /** PEM file of the authorities to trust in other servers; null: the built-in ones. */
  readonly trustedCertificates: string | null;
  /** What traces show (`tracing_instrumentations`), and the share of requests that have one (`tracing_sampling_rate`, 0 to 1). */
  readonly tracing: { readonly instrumentations: ReadonlySet<string>; readonly samplingRate: number };
}

export interface PluginNeeds {
  /** `access` may ask for the request body, up to this many bytes; asking for a larger one is answered with 413. */
  readonly requestBody?: { readonly maxBytes: number };
  /** TLS clients are asked for a certificate; one that shows none is served all the same. */
  readonly clientCertificate?: boolean;
  /** `stream`: `bodyFilter` is used. `buffer`: `response` gets the whole body, up to `maxBytes`, else 502. */
  readonly responseBody?: { readonly mode: 'stream' } | { readonly mode: 'buffer'; readonly maxBytes: number };
  /** Requests are recorded (`context.trace`). */
  readonly trace?: TraceNeeds;
  /** What no log may show, of any request: also of one that is refused before its turn, or sent to another route. */
  readonly secrets?: PluginSecrets;
}

/** Names, in any case. Usual ones (`Authorization`, `Cookie`, `apikey`, `access_token`) are masked without being named. */
export interface PluginSecrets {
  /** Query arguments that carry credentials. */
  readonly queryArguments?: readonly string[];
  /** Header fields, of requests and answers, that carry credentials: `apikey`, `cookie`, `set-cookie`. */
  readonly headers?: readonly string[];
}

export type PluginProtocol = 'grpc' | 'grpcs' | 'http' | 'https' | 'tcp' | 'tls' | 'udp' | 'tls_passthrough';

/** The scopes that an instance may be attached to besides globally. */
export type PluginScope = 'consumer' | 'route' | 'service';

/** What `schema.ts` of a plugin exports. */
export interface PluginSchema<C = unknown> {
  /** The fields of the configuration, every one with a description. */
  readonly config: RecordSchema<C>;
  /** Checks over the whole plugin entity, whose fields are named `config.<field>`. Default: none. */
  readonly checks?: readonly EntityCheck[];
}

/** What the module behind `entities` exports. */
export interface PluginEntities {
  readonly entities: readonly EntityDefinition[];
}

/** What a plugin's `index.ts` says of it. `C` is the type of its validated configuration. */
export interface PluginDescription<C> {
  /** Kong's name for it, the name of its folder: lower-case letters, digits and hyphens. */
  readonly name: string;
  /** `major.minor.patch`. */
  readonly version: string;
  /** Higher runs first, in every phase. Kong's own numbers; no two plugins share one. */
  readonly priority: number;
  /** Protocols that an instance may name in its `protocols` field. */
  readonly protocols: readonly PluginProtocol[];
  /** The default of that field. Default: those of grpc, grpcs, http and https that it speaks, or else all its own. */
  readonly defaultProtocols?: readonly PluginProtocol[];
  /** Default: consumer, route and service. */
  readonly scopes?: readonly PluginScope[];
  /**
   * The schema, or how to load it: `() => import('./schema.ts')`. Only the control plane loads it, so a worker is
   * spared the validation library (6 MB and 45 ms for each worker, measured).
   */
  readonly schema: PluginSchema<C> | (() => Promise<PluginSchema<C>>);
  /** Default: none. */
  readonly needs?: PluginNeeds | ((config: C) => PluginNeeds);
  /** Tables in shared memory that an instance needs; made before `setup` runs. Default: none. */
  readonly zones?: (config: C, instanceId: string) => readonly ZoneRequest[];
  /** Entities that the plugin brings along: a module that exports `entities`. Loaded by the control plane only. */
  readonly entities?: () => Promise<PluginEntities>;
  /** Paths of the Admin API that the plugin brings along. Loaded by the control plane only. */
  readonly adminRoutes?: () => Promise<PluginAdminRoutes>;
  /** What it does beside the traffic. Loaded by the control plane only, when the first instance is enabled. */
  readonly background?: () => Promise<PluginBackgroundModule>;
  /** Numbers that `GET /metrics` and the exporters of metrics show. Loaded by the control plane only, when somebody collects. */
  readonly metrics?: () => Promise<PluginMetricsModule>;
  /**
   * Runs once for each instance and version of its configuration, never per request. `config` is validated, has its
   * defaults, keeps Kong's field names, and is frozen. Returns only the phases it uses.
   */
  setup(config: C, tools: PluginTools): PluginPhases;
}

/** A plugin definition, as the gateway holds it. Made by `definePlugin` only. */
export interface Plugin {
  readonly name: string;
  readonly version: string;
  readonly priority: number;
  readonly protocols: readonly PluginProtocol[];
  readonly defaultProtocols: readonly PluginProtocol[];
  readonly scopes: readonly PluginScope[];
  loadSchema(): Promise<PluginSchema>;
  needs(config: unknown): PluginNeeds;
  zones(config: unknown, instanceId: string): readonly ZoneRequest[];
  loadEntities(): Promise<readonly EntityDefinition[]>;
  loadAdminRoutes(): Promise<PluginAdminRoutes['adminRoutes'] | null>;
  readonly hasBackground: boolean;
  loadBackground(): Promise<PluginBackgroundModule['background'] | null>;
  loadMetrics(): Promise<PluginMetricsModule['metrics'] | null>;
  setup(config: unknown, tools: PluginTools): PluginPhases;
}

/** A module whose default export is a plugin. */
export interface PluginModule {
  readonly default: Plugin;
}

/** Loads a plugin's `index.ts`. */
export type PluginLoader = () => Promise<PluginModule>;

export const httpProtocols: readonly PluginProtocol[] = Object.freeze(['grpc', 'grpcs', 'http', 'https']);

export const allProtocols: readonly PluginProtocol[] = Object.freeze([
  'grpc',
  'grpcs',
  'http',
  'https',
  'tcp',
  'tls',
  'tls_passthrough',
  'udp',
]);

const allScopes: readonly PluginScope[] = Object.freeze(['consumer', 'route', 'service']);
const noNeeds: PluginNeeds = Object.freeze({});
const brand = Symbol.for('sluicegate.plugin');

/** Makes a plugin of its description. Throws when the description could never work. */
export function definePlugin<C>(description: PluginDescription<C>): Plugin {
  const problem = descriptionProblem(description);
  if (problem !== null) throw new TypeError(`plugin '${description.name}': ${problem}`);
  const { schema, needs = noNeeds } = description;
  const plugin: Plugin = {
    name: description.name,
    version: description.version,
    priority: description.priority,
    protocols: Object.freeze([...description.protocols]),
    defaultProtocols: Object.freeze([...(description.defaultProtocols ?? usualProtocols(description.protocols))]),
    scopes: Object.freeze([...(description.scopes ?? allScopes)]),
    async loadSchema() {
      return typeof schema === 'function' ? await schema() : schema;
    },
    needs: (config) => (typeof needs === 'function' ? needs(config as C) : needs),
    zones: (config, instanceId) => description.zones?.(config as C, instanceId) ?? [],
    loadEntities: async () => (await description.entities?.())?.entities ?? [],
    loadAdminRoutes: async () => (await description.adminRoutes?.())?.adminRoutes ?? null,
    hasBackground: description.background !== undefined,
    loadBackground: async () => (await description.background?.())?.background ?? null,
    loadMetrics: async () => (await description.metrics?.())?.metrics ?? null,
    setup: (config, tools) => description.setup(config as C, tools),
  };
  Object.defineProperty(plugin, brand, { value: true });
  return Object.freeze(plugin);
}

/** True for what `definePlugin` made, also by another copy of the SDK. */
export function isPlugin(value: unknown): value is Plugin {
  return typeof value === 'object' && value !== null && brand in value;
}

function usualProtocols(spoken: readonly PluginProtocol[]): readonly PluginProtocol[] {
  const usual = httpProtocols.filter((protocol) => spoken.includes(protocol));
  return usual.length === 0 ? spoken : usual;
}

function descriptionProblem<C>(description: PluginDescription<C>): string | null {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(description.name)) {
    return 'the name must be lower-case letters and digits in parts joined by hyphens';
  }
  if (!/^\d+\.\d+\.\d+$/.test(description.version)) return 'the version must be three numbers, as in 1.0.0';
  if (!Number.isSafeInteger(description.priority)) return 'the priority must be a whole number';
  if (description.protocols.length === 0) return 'at least one protocol must be named';
  const foreign = (description.defaultProtocols ?? []).find((protocol) => !description.protocols.includes(protocol));
  if (foreign !== undefined) return `the default protocol ${foreign} is not one of its protocols`;
  if (typeof description.setup !== 'function') return 'setup must be a function';
  return null;
}
