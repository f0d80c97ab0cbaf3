import type { ConsumerView } from './request-views.ts';

/**
 * A stored entity with Kong's field names. `created_at` is in milliseconds since the epoch; a foreign field is `{ id }`
 * or null. The same object is given out until the entity changes, so a `WeakMap` keyed by it holds what was derived of
 * it, and no longer.
 */
export interface EntityRow {
  readonly id: string;
  readonly created_at: number;
  readonly [field: string]: unknown;
}

/**
 * The entities that are too many to be held by every worker: consumers, credentials, tokens. What was asked for once is
 * remembered, its absence too, until it changes or expires: then the answer comes at once, without a promise.
 */
export interface EntityAccess {
  /**
   * The entity with this id or value of a unique field; null when there is none or its `ttl` is over. Rejects with an
   * `EntityAccessError` when the store does not answer. `client`: IP address of the client that sent the value. Clients are
   * served in turn, so pass it wherever clients choose the value: one that tries many keys then delays only itself.
   */
  find(entity: string, field: string, value: string, client?: string): EntityRow | null | Promise<EntityRow | null>;
  /** All entities whose foreign field names this id, or whose looked-up field is this text, oldest first; the first 1,000. */
  list(
    entity: string,
    field: string,
    id: string,
    client?: string,
  ): readonly EntityRow[] | Promise<readonly EntityRow[]>;
  /** The consumer with this id or, when it is no UUID, this username. */
  consumer(idOrName: string, client?: string): ConsumerView | null | Promise<ConsumerView | null>;
  /**
   * Makes an entity, validated as the Admin API does. Resolves when all workers of this node know it. `ttl` (seconds)
   * may be among the fields where the entity has one.
   */
  insert(entity: string, fields: Readonly<Record<string, unknown>>): Promise<EntityRow>;
  /** Changes some fields; null when there is no such entity. */
  update(entity: string, id: string, fields: Readonly<Record<string, unknown>>): Promise<EntityRow | null>;
  /** True when this very call removed it: of several at once, one is told true. */
  delete(entity: string, id: string): Promise<boolean>;
}

/** `unavailable`: the store does not answer. `invalid`: the fields are not valid; `fields` says what is wrong. */
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

/** The consumer that a row of `consumers` is. The same view for the same row. */
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

/** The id that a foreign field of the row holds, or null. */
export function foreignIdOf(row: EntityRow, field: string): string | null {
  const value = row[field];
  if (typeof value !== 'object' || value === null || !('id' in value)) return null;
  return typeof value.id === 'string' ? value.id : null;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
