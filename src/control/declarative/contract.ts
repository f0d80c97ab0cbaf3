import type { Row } from '../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../shared/entities/registry.ts';
import type { ErrorTree } from '../../shared/schema/validate.ts';

/** Rows by schema name, as a dump of the store has them. */
export type ConfigRows = Readonly<Record<string, readonly Row[]>>;

/** Keys and indexes from the root of a document: `['services', 0, 'routes', 1]`. */
export type DocumentPath = readonly (string | number)[];

/** A place in the text of a document, from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** How a document is read. */
export interface ReadOptions {
  /**
   * Accept what decK adds to the format: `_info` (with `select_tags` and `defaults`), `_workspace`, `_konnect`, and `_plugin_configs` with
   * `_config` in plugins. Default false: these are unknown fields, as in Kong.
   */
  readonly deck?: boolean;
}

/** A document that was read, and not yet checked against the entities. */
export interface ConfigDocument {
  readonly content: Readonly<Record<string, unknown>>;
  /** MD5 as 32 hex digits: of the text, or of a canonical encoding of a JSON document without text. */
  readonly hash: string;
  /** It is a file of decK, in which a nested entity may refer to others. Default false. */
  readonly deck?: boolean;
  /** decK's `_info.select_tags`: the document declares only the entities with all of these tags. They are on its entities already. */
  readonly selectTags?: readonly string[];
  /** Where a value begins, or what contains it when there is no such value; null when the document has no text. */
  positionOf(path: DocumentPath): TextPosition | null;
}

/** The text is not YAML or JSON, or exceeds a limit. The message is one line without the position. */
export class DocumentError extends Error {
  readonly position: TextPosition | null;

  constructor(message: string, position: TextPosition | null = null) {
    super(message);
    this.name = 'DocumentError';
    this.position = position;
  }
}

/** How the rows of a document are made. */
export interface DeclareOptions {
  readonly entities: EntityRegistry;
  /** The setting `hash_keys`. */
  readonly hashKeys: boolean;
  /**
   * The rows that are there now. An entity of the document is matched with them by id, then by its unique fields: ids, generated
   * secrets, hashes and `created_at` persist unless the document has others.
   */
  readonly current: ConfigRows;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What a document declares. */
export interface DeclaredConfig {
  readonly hash: string;
  /** Complete rows, as they are stored: only valid entities, and only entities with `inConfig`. */
  readonly rows: ConfigRows;
  /** Empty: the whole document is valid. */
  readonly problems: readonly ConfigProblem[];
}

/** What is wrong with one entity, or with the document itself. */
export interface ConfigProblem {
  /** Schema name of the entity; null: the document itself, for example an unknown key. */
  readonly entity: string | null;
  readonly path: DocumentPath;
  readonly position: TextPosition | null;
  /** The id in the document or the deterministic one; null when there is none. */
  readonly id: string | null;
  /** Value of the endpoint key (`name`, `username`); null when there is none. */
  readonly name: string | null;
  readonly tags: readonly string[] | null;
  /** What the document has for it, without its nested children. */
  readonly input: Readonly<Record<string, unknown>>;
  /** In Kong's form, as `fields` of an error of the Admin API. */
  readonly errors: ErrorTree;
  /**
   * `schema` (default): its own fields. `shape`: it is not an object, or not the list that it should be. `uniqueness`: another entity of
   * the document has the same. `reference`: it refers to something that the document does not declare.
   */
  readonly kind?: 'schema' | 'shape' | 'uniqueness' | 'reference';
  /** The id that the entity has, or would have. Null: it has none. */
  readonly rowId?: string | null;
  /** Ids that its foreign fields resolve to; null where it has none, or where the reference is unknown. */
  readonly references?: Readonly<Record<string, string | null>>;
  /** The foreign field of the entity around it, and the id that the document has for that. */
  readonly parent?: { readonly field: string; readonly id: string | null };
  /** Where a field of it begins. The path begins at the entity. */
  positionIn?(path: DocumentPath): TextPosition | null;
}

/** One difference between two configs. */
export interface EntityChange {
  readonly operation: 'create' | 'update' | 'delete';
  /** Schema name. */
  readonly entity: string;
  readonly id: string;
  /** For people: name, username, host, `key-auth of service users`. No secret. */
  readonly label: string;
  readonly before: Row | null;
  readonly after: Row | null;
  /** Paths of the changed fields of an update: `config.minute`. */
  readonly fields: readonly string[];
}

/** What leads from one config to another, in an order in which the store accepts it. */
export interface ConfigPlan {
  readonly changes: readonly EntityChange[];
  /** Number of entities that stay as they are. */
  readonly unchanged: number;
}
