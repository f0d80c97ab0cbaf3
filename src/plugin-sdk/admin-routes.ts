import type { EntityRow } from './entity-access.ts';
import type { PluginSettings } from './tools.ts';

/** A request to a path of the plugin. */
export interface PluginAdminRequest {
  /** Values of the `{name}` segments of the path, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** First value of a query argument, or null. */
  query(name: string): string | null;
  /** The decoded body, form or JSON; empty if the request has none. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The response to it. */
export interface PluginAdminAnswer {
  readonly status: number;
  /** Sent as JSON. Default: no body. */
  readonly json?: unknown;
}

/** One method of a path, with its entry in the OpenAPI description. */
export interface PluginAdminOperation {
  readonly summary: string;
  /** Status of a success. A 204 has no body. Default: 200. */
  readonly status?: number;
  /** Default: none. */
  readonly queryParameters?: readonly {
    readonly name: string;
    readonly description: string;
    /** JSON Schema of the value. Default: any text. */
    readonly schema?: Readonly<Record<string, unknown>>;
  }[];
  /** More statuses that it may answer with: `[404, 503]`. Default: none. */
  readonly otherStatuses?: readonly number[];
  /** True for a method other than GET that changes nothing: it leaves no audit record. Default: false. */
  readonly readOnly?: boolean;
  /**
   * The role of admin users that it needs. `read`: it shows no secrets and no data of clients. Default: `admin`.
   */
  readonly access?: 'read' | 'edit' | 'admin';
  /** Null: the plain 404 of the Admin API. A rejection is answered with 500; an unavailable store with 503. */
  handle(request: PluginAdminRequest): Promise<PluginAdminAnswer | null>;
}

/** One path of the Admin API. */
export interface PluginAdminRoute {
  /** With named segments: `/consumers/{consumers}/quotas`. */
  readonly path: string;
  readonly operations: Readonly<Partial<Record<'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', PluginAdminOperation>>>;
}

/** A counter of the policy `cluster`, as the store has it. */
export interface StoredCounter {
  /** Made with `storedCounterKey` of `plugin-kit/limits`. */
  readonly key: string;
  /** Begin of the period that it counts, in milliseconds since the epoch. */
  readonly windowStart: number;
  readonly used: number;
}

/** What the gateway passes to `adminRoutes`. Every promise rejects while the store is unavailable. */
export interface PluginAdminTools {
  readonly settings: PluginSettings;
  /** The row with this id or endpoint key, such as a username: `find('consumers', 'ada')`; null: there is no such row. */
  find(entity: string, idOrName: string): Promise<EntityRow | null>;
  /** The rows whose foreign field names this id; at most 10,000. */
  list(entity: string, field: string, id: string): Promise<readonly EntityRow[]>;
  /** The rows of an entity; at most 10,000. `all('plugins')` has the plugin's own instances. */
  all(entity: string): Promise<readonly EntityRow[]>;
  /** The counters with these keys. A key that was never counted is left out. */
  counters(keys: readonly string[]): Promise<readonly StoredCounter[]>;
  /** Sets counters to 0. Limiters of all nodes apply it within two seconds. */
  resetCounters(counters: readonly Pick<StoredCounter, 'key' | 'windowStart'>[]): Promise<void>;
  /** Sends a message to the plugin's background part on this node; null while it does not run. */
  background(message: unknown): Promise<unknown>;
  /**
   * Sends a message (JSON, at most 16,384 characters) to the plugin's background part on all other nodes: its `received` gets it.
   * Resolves when the message is stored, to false if no other node can share this store. Rejects with an `EntityAccessError`.
   */
  broadcast(message: unknown): Promise<boolean>;
  /** The memory of a zone that the instance declares; null: it declares no such zone. */
  zone(instanceId: string, name: string): SharedArrayBuffer | null;
  /** False: the node is a control plane. Zones and requests are on its data planes, and `zone` is always null. */
  readonly carriesTraffic: boolean;
}

/**
 * What `admin.ts` of a plugin exports. Called once, when the node starts.
 *
 * @example
 * export function adminRoutes(tools: PluginAdminTools): readonly PluginAdminRoute[] {
 *   return [
 *     {
 *       path: '/hello/greetings',
 *       operations: {
 *         GET: {
 *           summary: 'Number of greetings',
 *           handle: async () => ({ status: 200, json: { greetings: await tools.background('count') } }),
 *         },
 *       },
 *     },
 *   ];
 * }
 */
export interface PluginAdminRoutes {
  readonly adminRoutes: (tools: PluginAdminTools) => readonly PluginAdminRoute[];
}
