import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import { schemaOf, toSeconds } from '../../../shared/entities/rows.ts';
import { uuidV7 } from '../../../shared/util/time/uuid-v7.ts';
import type { AuditRecord, RowChange } from '../../store/audit.ts';
import type { StoreWriter } from '../../store/store.ts';
import { bounded, differenceOf } from './difference.ts';
import type { Origin } from './origin.ts';
import { looksSecret, redacted, redactFields } from './redact.ts';

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

/** Follows one request that writes, and creates its records: one for each changed row, or one for an action that changes no row. */
export class AuditTrail {
  /** No further record is needed: it was created, or nothing has changed. */
  settled = false;
  readonly #request: AuditedRequest;
  readonly #entities: EntityRegistry | null;

  /** Without entities nothing is ever recorded. */
  constructor(request: AuditedRequest, entities: EntityRegistry | null) {
    this.#request = request;
    this.#entities = entities;
  }

  /** One line for the error log, when no record can be stored. */
  get summary(): string {
    const { origin, method, path } = this.#request;
    return `${origin.actor.name} at ${origin.peer} sent ${method} ${path} (request ${origin.requestId})`;
  }

  /** Stores records of everything that the transaction has changed. The last step of the transaction. */
  async record(writer: StoreWriter): Promise<void> {
    this.settled = true;
    const entities = this.#entities;
    if (entities === null || writer.changes.length === 0) return;
    const records = writer.changes
      .filter(({ cause }) => cause === 'asked')
      .map((change, index) => this.#recordOf(entities, change, writer, index));
    await writer.audit(records);
  }

  /** Stores a record of an action that changes no entity. */
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

  #recordOf(entities: EntityRegistry, change: RowChange, { now, changes }: StoreWriter, index: number): AuditRecord {
    const definition = entities.byName(change.entity);
    if (definition === undefined) throw new Error(`there is no entity '${change.entity}'`);
    const row = change.after ?? change.before;
    const body: Record<string, unknown> = {
      ...this.#body(),
      operation: change.operation === 'delete' ? 'delete' : change.before === null ? 'create' : 'update',
      name: row === null ? null : nameOf(definition, row),
      ...difference(definition, change),
    };
    if (change.operation === 'delete') {
      const cascade = countsOf(changes.filter(({ cause, root }) => cause === 'cascade' && root === change.id));
      if (Object.keys(cascade).length > 0) body['cascade'] = cascade;
    }
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

function difference(definition: EntityDefinition, { before, after }: RowChange): Record<string, unknown> {
  if (before === null || after === null) {
    const { truncated, ...sides } = bounded(shown(definition, before, before), shown(definition, after, after));
    return { ...sides, ...(truncated && { truncated }) };
  }
  const changed = differenceOf(before, after);
  const { truncated, ...sides } = bounded(
    shown(definition, before, changed.before),
    shown(definition, after, changed.after),
  );
  return { ...sides, ...(truncated && { truncated }) };
}

/** Some fields of a row, with times as the Admin API shows them. `redact` needs the whole row. */
function shown(
  definition: EntityDefinition,
  row: Row | null,
  fields: Readonly<Record<string, unknown>> | null,
): Record<string, unknown> | null {
  if (row === null || fields === null) return null;
  const seen = redactFields(schemaOf(definition, row), fields);
  for (const [name, value] of Object.entries(seen)) {
    const isTime = name === 'expires_at' ? definition.expires : definition.schema.fields.get(name)?.meta.timestamp;
    if (isTime === true) seen[name] = toSeconds(definition, value);
  }
  return seen;
}

/** The name for people: the field that identifies it in paths, or its name. Never a secret. */
function nameOf({ endpointKey, schema }: EntityDefinition, row: Row): string | null {
  const key = endpointKey !== null && schema.fields.get(endpointKey)?.meta.encrypted !== true ? row[endpointKey] : null;
  const name = key ?? (schema.fields.get('name')?.meta.encrypted === true ? null : row['name']);
  return typeof name === 'string' ? name.slice(0, maxTextLength) : null;
}

function countsOf(changes: readonly RowChange[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { entity } of changes) counts[entity] = (counts[entity] ?? 0) + 1;
  return counts;
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
