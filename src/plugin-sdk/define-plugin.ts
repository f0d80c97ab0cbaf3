import type { EntityDefinition } from '../shared/entities/entity.ts';
import type { EntityCheck } from '../shared/schema/entity-checks.ts';
import type { Field } from '../shared/schema/field-meta.ts';
import type { RecordSchema } from '../shared/schema/fields.ts';
import type { PluginAdminRoutes } from './admin-routes.ts';
import type { PluginBackgroundModule } from './background.ts';
import type { PluginCapability } from './capabilities.ts';
import { descriptionProblem } from './description-problem.ts';
import type { PluginMetricsModule } from './metrics.ts';
import { phasesProblem } from './phase-names.ts';
import type { PluginPhases } from './phases.ts';
import { budgetProblem, type TimeBudget } from './time-budget.ts';
import type { PluginTools, UntrustedFunctions } from './tools.ts';
import type { TraceNeeds } from './trace.ts';
import type { ZoneRequest } from './zones.ts';

/** Protocols that an instance may name in its `protocols` field. */
export type PluginProtocol = 'grpc' | 'grpcs' | 'http' | 'https' | 'tcp' | 'tls' | 'udp' | 'tls_passthrough';

/** The scopes that an instance may have in addition to the global one. */
export type PluginScope = 'consumer' | 'route' | 'service';

/** What an instance needs of the gateway. What it does not declare costs its requests nothing. */
export interface PluginNeeds {
  /**
   * `access` may read the request body, up to this number of bytes. A plugin that reads a larger one gets no body: the
   * client receives 413.
   */
  readonly requestBody?: { readonly maxBytes: number };
  /** TLS clients are asked for a certificate. A client without one is still accepted. */
  readonly clientCertificate?: boolean;
  /**
   * `stream`: `bodyFilter` runs, piece by piece. `buffer`: `response` receives the whole body, up to `maxBytes` bytes; a
   * larger one is answered with 502.
   */
  readonly responseBody?: { readonly mode: 'stream' } | { readonly mode: 'buffer'; readonly maxBytes: number };
  /** Requests are recorded in `context.trace`. */
  readonly trace?: TraceNeeds;
  /** Where clients send credentials. No log shows these values, whatever happens to the request. */
  readonly secrets?: PluginSecrets;
}

/** Names, in any case. The common ones (`Authorization`, `Cookie`, `apikey`, `access_token`) are always masked. */
export interface PluginSecrets {
  /** Query arguments that carry credentials. */
  readonly queryArguments?: readonly string[];
  /** Header fields of requests and responses that carry credentials: `apikey`, `set-cookie`. */
  readonly headers?: readonly string[];
}

/** What `schema.ts` of a plugin exports. */
export interface PluginSchema<C = unknown> {
  /** The fields of the configuration. Each has a description. */
  readonly config: RecordSchema<C>;
  /** Rules over several fields, which are named `config.<field>`. Default: none. */
  readonly checks?: readonly EntityCheck[];
  /** More rules, by the settings of the node that validates. Default: none. */
  readonly nodeChecks?: (node: SchemaNode) => readonly EntityCheck[];
}

/** What a schema may know of the node. */
export interface SchemaNode {
  /** `untrusted_lua`: where functions that are part of a configuration may run. */
  readonly untrustedFunctions: UntrustedFunctions;
}

/** The functions that make fields: everything that `sluicegate/plugin-sdk/schema` exports. */
export type FieldTypes = typeof import('./schema.ts');

/** The fields of a configuration by name, in the order of the form and of the documentation. */
export type ConfigFields<C> = { readonly [K in keyof C]: Field<C[K]> };

/** What `entities.ts` of a plugin exports. */
export interface PluginEntities {
  /** Made with `defineEntity` of `sluicegate/plugin-sdk/schema`. */
  readonly entities: readonly EntityDefinition[];
}

/**
 * What `index.ts` of a plugin passes to `definePlugin`. Only `name` and `setup` are required.
 *
 * The fields of the configuration are in `config`, or, with a module of their own, in `schema`. One declaration gives the
 * type of `config` in `setup`, the validation, `/schemas/plugins/<name>`, the form of the dashboard and the table of the
 * README. A plugin with neither has no configuration.
 *
 * `schema`, `entities`, `adminRoutes`, `background` and `metrics` are functions that import a module, so that only the
 * control plane loads it. `config` is a function for the same reason. Workers load `index.ts` and what it imports itself.
 *
 * @typeParam C Type of the validated configuration. TypeScript finds it in `config` or `schema`: write no type arguments.
 */
export interface PluginDescription<C> {
  /** Name of the plugin and of its folder: lower-case letters and digits in parts joined by hyphens. */
  readonly name: string;
  /** `major.minor.patch`. Default: `0.1.0`. */
  readonly version?: string;
  /**
   * A whole number. In every phase, the plugin with the higher number runs first. Bundled plugins have Kong's numbers.
   * Default: 500, after authentication, limits and changes of the request, and before caches and logs.
   */
  readonly priority?: number;
  /** Protocols that an instance may name in its `protocols` field; at least one. Default: `httpProtocols`. */
  readonly protocols?: readonly PluginProtocol[];
  /** Default of that field. Default: those of grpc, grpcs, http and https in `protocols`; if there are none, all. */
  readonly defaultProtocols?: readonly PluginProtocol[];
  /** Default: consumer, route and service. */
  readonly scopes?: readonly PluginScope[];
  /**
   * The fields of the configuration. The gateway passes the functions that make them, in the control plane only: workers do
   * not load the validation library. Write it before `needs`, `zones` and `setup`, from where TypeScript takes their types.
   * Default: no fields.
   *
   * @example
   * config: ({ string, integer }) => ({
   *   greeting: string({ required: true, default: 'Hello', description: 'First word of the greeting.' }),
   *   status: integer({ between: [400, 499], description: 'Status of a refusal.' }),
   * }),
   */
  readonly config?: (fields: FieldTypes) => ConfigFields<C>;
  /** Rules over several fields of `config`, which are named `config.<field>`. Default: none. */
  readonly checks?: readonly EntityCheck[];
  /**
   * Instead of `config` and `checks`, for a schema in a module of its own: a function that loads it. The schema itself also
   * works: `() => import('./schema.ts')` saves 6 MB and 45 ms in each worker.
   */
  readonly schema?: PluginSchema<C> | (() => Promise<PluginSchema<C>>);
  /**
   * What the plugin reaches outside of the requests that it handles; an empty list: nothing. The log shows it when the plugin is
   * loaded, and the dashboard on its page. It is a statement for those who choose plugins, and not enforced: a plugin is trusted code.
   * Default: not declared.
   *
   * @example
   * capabilities: ['network'],
   */
  readonly capabilities?: readonly PluginCapability[];
  /** May depend on the configuration. Default: none. */
  readonly needs?: PluginNeeds | ((config: C) => PluginNeeds);
  /** How long it may delay a request; may depend on the configuration (null: no limit). Default: no limit. */
  readonly timeBudget?: TimeBudget | ((config: C) => TimeBudget | null);
  /** Shared memory that an instance needs. It exists before `setup` runs. Default: none. */
  readonly zones?: (config: C, instanceId: string) => readonly ZoneRequest[];
  /** Entities that the plugin adds to the Admin API: `() => import('./entities.ts')`. Default: none. */
  readonly entities?: () => Promise<PluginEntities>;
  /** Paths that the plugin adds to the Admin API: `() => import('./admin.ts')`. Default: none. */
  readonly adminRoutes?: () => Promise<PluginAdminRoutes>;
  /** What runs once in each node, outside of requests: `() => import('./background.ts')`. Default: nothing. */
  readonly background?: () => Promise<PluginBackgroundModule>;
  /** Numbers for `GET /metrics` and the exporters of metrics: `() => import('./metrics.ts')`. Default: none. */
  readonly metrics?: () => Promise<PluginMetricsModule>;
  /**
   * Called in each worker once for each instance and version of its configuration, never per request. Do costly work here:
   * compile expressions, open clients. An exception disables the instance: the error log has the message, and requests in
   * its scope are answered with 500.
   *
   * @param config Validated, with its defaults and Kong's field names; frozen.
   * @returns Only the phases that this configuration uses. A phase that is not there costs nothing.
   */
  setup(config: C, tools: PluginTools): PluginPhases;
}

/** A plugin definition. Made by `definePlugin` only. */
export interface Plugin {
  readonly name: string;
  readonly version: string;
  readonly priority: number;
  readonly protocols: readonly PluginProtocol[];
  readonly defaultProtocols: readonly PluginProtocol[];
  readonly scopes: readonly PluginScope[];
  loadSchema(): Promise<PluginSchema>;
  /** Null: not declared. */
  readonly capabilities: readonly PluginCapability[] | null;
  needs(config: unknown): PluginNeeds;
  /**
   * Null: no limit.
   *
   * @throws TypeError for a budget that cannot work with this configuration.
   */
  timeBudget(config: unknown): TimeBudget | null;
  /** Whether some configuration has zones. */
  readonly hasZones: boolean;
  zones(config: unknown, instanceId: string): readonly ZoneRequest[];
  /** Empty: the plugin has none. */
  loadEntities(): Promise<readonly EntityDefinition[]>;
  /** Null: the plugin has none. */
  loadAdminRoutes(): Promise<PluginAdminRoutes['adminRoutes'] | null>;
  readonly hasBackground: boolean;
  /** Null: the plugin has none. */
  loadBackground(): Promise<PluginBackgroundModule['background'] | null>;
  /** Null: the plugin has none. */
  loadMetrics(): Promise<PluginMetricsModule['metrics'] | null>;
  setup(config: unknown, tools: PluginTools): PluginPhases;
}

/** A plugin, with the type of its validated configuration for editors; the property never exists. */
export interface TypedPlugin<C> extends Plugin {
  readonly '~config'?: C;
}

/** What may be written for a configuration: everything with a default may be left out. */
export type ConfigInput<C> = C extends readonly (infer E)[]
  ? readonly ConfigInput<E>[]
  : C extends object
    ? { readonly [K in keyof C]?: ConfigInput<C[K]> }
    : C;

/** A module whose default export is a plugin. */
export interface PluginModule {
  readonly default: Plugin;
}

/** Loads `index.ts` of a plugin. */
export type PluginLoader = () => Promise<PluginModule>;

/** Requests: gRPC and HTTP, with and without TLS. */
export const httpProtocols: readonly PluginProtocol[] = Object.freeze(['grpc', 'grpcs', 'http', 'https']);

/** Requests and streams. */
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

/**
 * Makes a plugin. It is the default export of the plugin's `index.ts`.
 *
 * @throws TypeError that names the property of a description that cannot work: `plugin 'hello': priority must be a whole
 * number`.
 *
 * @example
 * import { definePlugin, refuse } from 'sluicegate/plugin-sdk';
 *
 * export default definePlugin({
 *   name: 'hello',
 *   config: ({ array, string }) => ({
 *     greeting: string({ required: true, default: 'Hello', description: 'First word of the greeting.' }),
 *     banned: array(string(), { description: 'Names that are refused.' }),
 *   }),
 *   setup(config) {
 *     const banned = new Set(config.banned);
 *     return {
 *       access(context) {
 *         const name = context.request.queryArgument('name') ?? 'stranger';
 *         if (banned.has(name)) return refuse(403, `No greetings for ${name}`);
 *         context.upstream.setHeader('X-Greeting', `${config.greeting}, ${name}!`);
 *       },
 *     };
 *   },
 * });
 */
export function definePlugin<C = Readonly<Record<string, never>>>(description: PluginDescription<C>): TypedPlugin<C> {
  const problem = descriptionProblem(description);
  if (problem !== null) throw new TypeError(problem);
  const { version = '0.1.0', priority = 500, protocols = httpProtocols, needs = noNeeds } = description;
  const plugin: Plugin = {
    name: description.name,
    version,
    priority,
    protocols: Object.freeze([...protocols]),
    defaultProtocols: Object.freeze([...(description.defaultProtocols ?? defaultProtocols(protocols))]),
    scopes: Object.freeze([...(description.scopes ?? allScopes)]),
    loadSchema: () => loadSchema(description),
    capabilities: description.capabilities === undefined ? null : Object.freeze([...description.capabilities]),
    needs: (config) => (typeof needs === 'function' ? needs(config as C) : needs),
    timeBudget: (config) => checkedBudget(description, config as C),
    hasZones: description.zones !== undefined,
    zones: (config, instanceId) => description.zones?.(config as C, instanceId) ?? [],
    loadEntities: async () => (await description.entities?.())?.entities ?? [],
    loadAdminRoutes: async () => (await description.adminRoutes?.())?.adminRoutes ?? null,
    hasBackground: description.background !== undefined,
    loadBackground: async () => (await description.background?.())?.background ?? null,
    loadMetrics: async () => (await description.metrics?.())?.metrics ?? null,
    setup(config, tools) {
      const phases = description.setup(config as C, tools);
      const wrong = phasesProblem(phases);
      if (wrong !== null) throw new TypeError(`plugin '${description.name}': ${wrong}`);
      return phases;
    },
  };
  Object.defineProperty(plugin, brand, { value: true });
  return Object.freeze(plugin);
}

/** True for what `definePlugin` made, also that of another copy of the SDK. */
export function isPlugin(value: unknown): value is Plugin {
  return typeof value === 'object' && value !== null && brand in value;
}

function checkedBudget<C>({ timeBudget, needs = noNeeds }: PluginDescription<C>, config: C): TimeBudget | null {
  const budget = typeof timeBudget === 'function' ? timeBudget(config) : (timeBudget ?? null);
  if (budget === null) return null;
  const problem = budgetProblem(budget, typeof needs === 'function' ? needs(config) : needs);
  if (problem !== null) throw new TypeError(`timeBudget ${problem}`);
  return budget;
}

function defaultProtocols(spoken: readonly PluginProtocol[]): readonly PluginProtocol[] {
  const common = httpProtocols.filter((protocol) => spoken.includes(protocol));
  return common.length === 0 ? spoken : common;
}

async function loadSchema<C>({ name, config, checks, schema }: PluginDescription<C>): Promise<PluginSchema> {
  if (schema !== undefined) return typeof schema === 'function' ? await schema() : schema;
  const fields = await import('./schema.ts');
  const own = config === undefined ? {} : config(fields);
  for (const [field, made] of Object.entries(own ?? { config: own })) {
    if (isField(made)) continue;
    throw new TypeError(
      `plugin '${name}': config.${field} is not a field: make it with string(), integer() and the like`,
    );
  }
  const record = fields.record(own);
  return checks === undefined ? { config: record } : { config: record, checks };
}

function isField(value: unknown): value is Field {
  return typeof value === 'object' && value !== null && 'zod' in value && 'meta' in value;
}
