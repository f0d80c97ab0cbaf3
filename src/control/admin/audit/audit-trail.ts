import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import { uuidV7 } from '../../../shared/util/time/uuid-v7.ts';
import type { AuditRecord, RowChange } from '../../store/audit.ts';
import type { Attribution } from '../../store/history.ts';
import type { StoreWriter } from '../../store/store.ts';
import type { Origin } from './origin.ts';
import { looksSecret, redacted } from './redact.ts';
import { shownDifference } from './shown-difference.ts';

/** The request, for its records. */
export interface AuditedRequest {
  readonly origin: Origin;
  readonly method: string;
  /** Without the query; secrets are replaced. */
  readonly path: string;
  /** Status that success is answered with. */
  readonly status: number;
}

/** `details` of a record of an action: the query and the body's fields. */
export interface ActionDetails {
  readonly query: Readonly<Record<string, string>>;
  /** Names of the body's fields, without values, as any of them may be a secret. */
  readonly fields: readonly string[];
}

/** Maximum records of one request. */
const maxRecords = 1000;

/** Records that are made in one turn of the event loop. */
const recordsAtOnce = 100;

/** Follows one request that writes, and creates its records: one for each changed row, or one for an action that changes no row. */
export class AuditTrail {
  /** No further record is needed: it was created, or nothing has changed. */
  settled = false;
  /** The version of the config that the request has made; null: none. */
  version: number | null = null;
  readonly #request: AuditedRequest;
  readonly #entities: EntityRegistry | null;

  /** Without entities nothing is ever recorded. */
  constructor(request: AuditedRequest, entities: EntityRegistry | null) {
    this.#request = request;
    this.#entities = entities;
  }

  /** Address of the client: the peer's, or the one that a trusted peer names. */
  get client(): string {
    return this.#request.origin.client;
  }

  /** One line for the error log, when no record can be stored. */
  get summary(): string {
    const { origin, method, path } = this.#request;
    return `${origin.actor.name} at ${origin.peer} sent ${method} ${path} (request ${origin.requestId})`;
  }

  /**
   * Stores records of everything that the transaction has changed, or one of how much when that is very much, and names the actor of the version that it makes. The last step of
   * the transaction.
   */
  async record(writer: StoreWriter, made: Omit<Attribution, 'actor'> = { action: 'write' }): Promise<void> {
    this.settled = true;
    this.attribute(writer, made);
    const entities = this.#entities;
    if (entities === null || writer.changes.length === 0) return;
    const cascades = cascadesOf(writer.changes);
    const asked = writer.changes.filter(({ cause }) => cause === 'asked');
    if (asked.length > maxRecords) return await this.#recordMany(writer, asked);
    for (let from = 0; from < asked.length; from += recordsAtOnce) {
      const some = asked.slice(from, from + recordsAtOnce);
      // A large config is recorded in pieces: the store lets other work run in between.
      await writer.audit(some.map((change, i) => this.#recordOf(entities, change, writer.now, from + i, cascades)));
    }
  }

  /** Names the actor of the version of the config that the transaction makes. */
  attribute(writer: StoreWriter, made: Omit<Attribution, 'actor'>): void {
    writer.attribute({ ...made, actor: this.#request.origin.actor.name });
  }

  /** Stores a record of an action as a whole, instead of records of its changes. */
  async recordAction(writer: StoreWriter, details: ActionDetails): Promise<void> {
    this.settled = true;
    if (this.#entities === null) return;
    await writer.audit([
      {
        ...this.#common(writer.now, 0),
        entity: null,
        entityId: null,
        body: { ...this.#body(), operation: 'action', details: shownDetails(details) },
      },
    ]);
  }

  /** One record for a large config; the version that it makes shows each entity. */
  async #recordMany(writer: StoreWriter, changes: readonly RowChange[]): Promise<void> {
    const counts: Record<string, number> = {};
    for (const { entity } of changes) counts[entity] = (counts[entity] ?? 0) + 1;
    const body = { ...this.#body(), operation: 'action', details: { changed: counts } };
    await writer.audit([{ ...this.#common(writer.now, 0), entity: null, entityId: null, body }]);
  }

  #recordOf(
    entities: EntityRegistry,
    change: RowChange,
    now: number,
    index: number,
    cascades: ReadonlyMap<string, Readonly<Record<string, number>>>,
  ): AuditRecord {
    const definition = entities.byName(change.entity);
    if (definition === undefined) throw new Error(`there is no entity '${change.entity}'`);
    const row = change.after ?? change.before;
    const body: Record<string, unknown> = {
      ...this.#body(),
      operation: change.operation === 'delete' ? 'delete' : change.before === null ? 'create' : 'update',
      name: row === null ? null : nameOf(definition, row),
      ...shownDifference(definition, change),
    };
    const cascade = change.operation === 'delete' ? cascades.get(change.id) : undefined;
    if (cascade !== undefined) body['cascade'] = cascade;
    return { ...this.#common(now, index), entity: change.entity, entityId: change.id, body };
  }

  #common(now: number, index: number): Pick<AuditRecord, 'id' | 'createdAt' | 'actor' | 'method' | 'requestId'> {
    const { origin, method } = this.#request;
    return { id: uuidV7(now, index), createdAt: now, actor: origin.actor.name, method, requestId: origin.requestId };
  }

  #body(): Record<string, unknown> {
    const { origin, path, status } = this.#request;
    return { actor: origin.actor, path, status, peer: origin.peer, client: origin.client };
  }
}

/** The name for people: the field that identifies it in paths, or its name. Never a secret. */
function nameOf({ endpointKey, schema }: EntityDefinition, row: Row): string | null {
  const key = endpointKey !== null && schema.fields.get(endpointKey)?.meta.encrypted !== true ? row[endpointKey] : null;
  const name = key ?? (schema.fields.get('name')?.meta.encrypted === true ? null : row['name']);
  return typeof name === 'string' ? name.slice(0, maxTextLength) : null;
}

/** Numbers of rows by entity that were deleted with a row, by its id. */
function cascadesOf(changes: readonly RowChange[]): ReadonlyMap<string, Readonly<Record<string, number>>> {
  const cascades = new Map<string, Record<string, number>>();
  for (const { cause, root, entity } of changes) {
    if (cause !== 'cascade' || root === '') continue;
    const counts = cascades.get(root) ?? {};
    cascades.set(root, counts);
    counts[entity] = (counts[entity] ?? 0) + 1;
  }
  return cascades;
}

const maxTextLength = 1024;
const maxArguments = 100;

function shownDetails({ query, fields }: ActionDetails): Record<string, unknown> {
  const shownQuery = Object.entries(query)
    .slice(0, maxArguments)
    .map(([name, value]) => [
      name.slice(0, maxTextLength),
      looksSecret(name) ? redacted : value.slice(0, maxTextLength),
    ]);
  return {
    query: Object.fromEntries(shownQuery),
    fields: fields.slice(0, maxArguments).map((name) => name.slice(0, maxTextLength)),
  };
}
