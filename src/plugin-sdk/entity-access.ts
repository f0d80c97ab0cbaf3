import type { ConsumerView } from './request-views.ts';

/**
 * A stored entity with Kong's field names. A foreign field is `{ id }` or null. The same object is returned until the
 * entity changes, so use it as the key of a `WeakMap` for what you derive from it.
 */
export interface EntityRow {
  /** UUID. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  readonly [field: string]: unknown;
}

/**
 * Consumers, credentials, tokens and the entities of plugins: too many to keep in every worker. A lookup is cached, also one
 * that found nothing, until the entity changes or expires. A cached result is returned at once, without a promise.
 *
 * Every function rejects with an `EntityAccessError`: `unavailable` while the store does not answer, and for writes
 * `invalid` or `conflict`.
 *
 * @example
 * const found = tools.entities.find('keyauth_credentials', 'key', key, context.client.ip);
 * const credential = found instanceof Promise ? await found : found;
 */
export interface EntityAccess {
  /**
   * The entity with this id or this value of a unique field; null: there is no such entity, or its `ttl` is over.
   *
   * @param client IP address of the client that sent the value. Lookups of clients are scheduled fairly, so a client that
   * tries many values delays only itself. Pass it wherever clients choose the value.
   */
  find(entity: string, field: string, value: string, client?: string): EntityRow | null | Promise<EntityRow | null>;
  /** The entities whose foreign field has this id, or whose looked-up field has this text, oldest first; at most 1,000. */
  list(
    entity: string,
    field: string,
    id: string,
    client?: string,
  ): readonly EntityRow[] | Promise<readonly EntityRow[]>;
  /** The consumer with this id; with this username if it is no UUID. */
  consumer(idOrName: string, client?: string): ConsumerView | null | Promise<ConsumerView | null>;
  /**
   * Creates an entity, validated as the Admin API does. Resolves once all workers of this node have it.
   *
   * @param fields May include `ttl` (seconds) where the entity has it.
   */
  insert(entity: string, fields: Readonly<Record<string, unknown>>): Promise<EntityRow>;
  /** Changes some fields; null: there is no such entity. */
  update(entity: string, id: string, fields: Readonly<Record<string, unknown>>): Promise<EntityRow | null>;
  /** True if this call deleted it. Of several calls at the same time, only one is true. */
  delete(entity: string, id: string): Promise<boolean>;
}

/**
 * Failure of `EntityAccess` and of the store of a background part.
 *
 * - `unavailable`: the store does not answer
 * - `invalid`: the fields are not valid; `fields` has a message for each
 * - `conflict`: a unique value is taken; `fields` has it where it is known
 */
export class EntityAccessError extends Error {
  readonly kind: 'unavailable' | 'invalid' | 'conflict';
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(kind: EntityAccessError['kind'], message: string, fields: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = 'EntityAccessError';
    this.kind = kind;
    this.fields = fields;
  }
}

const views = new WeakMap<EntityRow, ConsumerView>();

/** The view of a row of `consumers`; the same object for the same row. */
export function consumerView(row: EntityRow): ConsumerView {
  let view = views.get(row);
  if (view === undefined) {
    const tags = row['tags'];
    view = Object.freeze({
      id: row.id,
      username: textOrNull(row['username']),
      customId: textOrNull(row['custom_id']),
      tags: Object.freeze(Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []),
    });
    views.set(row, view);
  }
  return view;
}

/** The id in a foreign field of the row; null: it is empty, or no foreign field. */
export function foreignIdOf(row: EntityRow, field: string): string | null {
  const value = row[field];
  if (typeof value !== 'object' || value === null || !('id' in value)) return null;
  return typeof value.id === 'string' ? value.id : null;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
