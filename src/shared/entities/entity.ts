import type { RecordSchema } from '../schema/fields.ts';

/**
 * One stored entity. Field names are Kong's (snake_case), in the store as on the wire. `created_at` and
 * `updated_at` are **milliseconds** since the epoch here; the Admin API turns them into what Kong shows.
 * A foreign field holds `{ id }` or null.
 */
export interface Row {
  readonly id: string;
  readonly created_at: number;
  readonly [field: string]: unknown;
}

/** What happens to this entity when the referenced one is deleted. */
export type OnDelete = 'restrict' | 'cascade';

export interface ForeignField {
  /** Schema name of the referenced entity, for example `services`. */
  readonly entity: string;
  readonly onDelete: OnDelete;
}

/** Everything that the store, the Admin API, the documentation and the snapshot need to know about an entity. */
export interface EntityDefinition {
  /** Schema name: `services`, `ca_certificates`, `keyauth_credentials`. */
  readonly name: string;
  /** First path segment of its collection in the Admin API: `services`, `key-auths`. Null when it has none (`targets`). */
  readonly path: string | null;
  /** Unique field that may replace the id in a path (`name`, `username`); null when there is none. */
  readonly endpointKey: string | null;
  /** Every field in Kong's order, with types, defaults, constraints and descriptions. */
  readonly schema: RecordSchema;
  /** How timestamps are shown: whole seconds, or seconds with a fraction (targets). */
  readonly timestamps: 'seconds' | 'fraction';
  /** False for credentials, which have no `updated_at`. */
  readonly hasUpdatedAt: boolean;
  /** Unique single fields, in the order in which violations are reported. */
  readonly unique: readonly string[];
  /** Sets of fields whose combination is unique, nulls included (`plugins`: name, route, service, consumer). */
  readonly uniqueTogether: readonly (readonly string[])[];
  /** Foreign fields by name. */
  readonly foreign: Readonly<Record<string, ForeignField>>;
  /**
   * The schema for this row, where it depends on the row: a plugin's configuration by its name, a route's rules by its
   * protocols. `schema` when absent.
   */
  readonly schemaFor?: (value: Readonly<Record<string, unknown>>, operation: Operation) => RecordSchema;
  /** Rewrites a row before it is validated. Values may still have any type. */
  readonly prepare?: (value: Readonly<Record<string, unknown>>, context: PrepareContext) => Record<string, unknown>;
  /** Fields that are derived from others, computed from a valid row: the digest of a certificate. */
  readonly derive?: (value: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /**
   * Returns what is stored instead of a complete row, and what the response to this one write shows in addition: a
   * secret that is stored as a hash. Called for every write.
   */
  readonly conceal?: (row: Row, context: ConcealContext) => Concealed | Promise<Concealed>;
  /** Runs in the transaction in which the Admin API deletes the row. */
  readonly beforeDelete?: (row: Row, writer: RowWriter) => Promise<void>;
  /** Lookup fields in addition to unique and foreign ones: each has an index in the store. */
  readonly lookups: readonly string[];
  /** Rows may expire: input and output have `ttl`, the seconds that are left; stored is `expires_at`, in milliseconds. */
  readonly expires: boolean;
  /**
   * True: its rows are config, so they are in declarative documents, exports, differences and the history of the config. False for
   * state, such as tokens and sessions.
   */
  readonly inConfig: boolean;
  /** Parents under whose path this entity is listed: `{ entity: 'services', field: 'service', path: 'routes' }`. */
  readonly nestedUnder: readonly NestedUnder[];
}

/** The operations of an entity in the transaction of a write. */
export interface RowWriter {
  /** Milliseconds since the epoch. */
  readonly now: number;
  findBy(entity: string, field: string, value: string): Promise<Row | null>;
  insert(entity: string, row: Row): Promise<Row>;
}

export interface ConcealContext {
  /** The setting `hash_keys`. */
  readonly hashKeys: boolean;
  /** The fields in the client's body; for a PATCH only what changes. Does not include a generated secret. */
  readonly given: Readonly<Record<string, unknown>>;
  /** The stored row that is replaced; null for a new one. */
  readonly before: Row | null;
}

export interface Concealed {
  readonly stored: Row;
  /** Fields that only this response shows. */
  readonly shown: Readonly<Record<string, unknown>>;
}

/** The purpose of a validation. `validate` is `POST /schemas/{entity}/validate`. */
export type Operation = 'create' | 'replace' | 'update' | 'validate';

export interface PrepareContext {
  readonly operation: Operation;
  /** The client's body: for an update only what changes. */
  readonly change: Readonly<Record<string, unknown>>;
}

export interface NestedUnder {
  /** Schema name of the parent. */
  readonly entity: string;
  /** The foreign field of this entity that names the parent. */
  readonly field: string;
  /** Path segment below the parent: `/services/{service}/<path>`. */
  readonly path: string;
  /** Field that may replace the id in such a path, because it is unique among the children of one parent. */
  readonly key?: string;
}
