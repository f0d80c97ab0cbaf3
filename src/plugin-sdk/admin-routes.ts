import type { EntityRow } from './entity-access.ts';

export interface PluginAdminRequest {
  /** Values of the `{name}` segments, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** First value of a query argument, or null. */
  query(name: string): string | null;
  /** The decoded body, form or JSON; empty when there is none. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface PluginAdminAnswer {
  readonly status: number;
  /** Sent as JSON; an answer without it is empty. */
  readonly json?: unknown;
}

export interface PluginAdminOperation {
  /** What it does, for the OpenAPI description. */
  readonly summary: string;
  /** Status of its success, for the OpenAPI description; after 204 the answer is empty. Default: 200. */
  readonly status?: number;
  /** What it reads from the query, for the OpenAPI description. */
  readonly queryParameters?: readonly {
    readonly name: string;
    readonly description: string;
    /** JSON Schema of its value; any text when left out. */
    readonly schema?: Readonly<Record<string, unknown>>;
  }[];
  /** Further statuses of its answers, for the OpenAPI description: `[404, 503]`. */
  readonly otherStatuses?: readonly number[];
  /** Changes nothing although it is no GET: leaves no audit record. Default: false. */
  readonly readOnly?: boolean;
  /** Null: the plain 404 of the Admin API. */
  handle(request: PluginAdminRequest): Promise<PluginAdminAnswer | null>;
}

/** One path of the Admin API: `/consumers/{consumers}/quotas`. */
export interface PluginAdminRoute {
  readonly path: string;
  readonly operations: Readonly<Partial<Record<'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', PluginAdminOperation>>>;
}

/** How much is used of a counter kept in the relational store. */
export interface StoredCounter {
  readonly key: string;
  /** Milliseconds since the epoch: when the period began that it counts. */
  readonly windowStart: number;
  readonly used: number;
}

/** What the handlers of a plugin's paths work with. Everything rejects when the store does not answer. */
export interface PluginAdminTools {
  /** By id or, where the entity has one, by its endpoint key: `find('consumers', 'ada')`. */
  find(entity: string, idOrName: string): Promise<EntityRow | null>;
  list(entity: string, field: string, id: string): Promise<readonly EntityRow[]>;
  /** Every row of an entity; `plugins` to learn of the plugin's own instances. */
  all(entity: string): Promise<readonly EntityRow[]>;
  /** Counters of the relational store whose keys are these. Keys that were never counted are left out. */
  counters(keys: readonly string[]): Promise<readonly StoredCounter[]>;
  /** Sets counters back to 0. Limiters on all nodes see it within two seconds. */
  resetCounters(counters: readonly Pick<StoredCounter, 'key' | 'windowStart'>[]): Promise<void>;
  /** Sends a message to the plugin's background part on this node, and gives its answer; null when it does not run. */
  background(message: unknown): Promise<unknown>;
  /** Memory of a zone that this instance of the plugin declared; null when there is none. */
  zone(instanceId: string, name: string): SharedArrayBuffer | null;
}

/** What the module behind `adminRoutes` exports. */
export interface PluginAdminRoutes {
  readonly adminRoutes: (tools: PluginAdminTools) => readonly PluginAdminRoute[];
}
