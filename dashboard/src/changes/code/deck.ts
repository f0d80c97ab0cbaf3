import type { EntityInfo } from '../../api/queries.ts';
import { isObject, type Value } from '../../forms/value.ts';

/** An entity for a file of decK, and what it refers to. */
export interface DeckEntity {
  readonly info: EntityInfo;
  /** Without what the gateway sets, and without secrets. */
  readonly value: Value;
  /** By field of the reference. */
  readonly references: Readonly<Record<string, DeckEntity>>;
}

type Section = Record<string, unknown>;

/** References that decK writes as objects. */
const objects: ReadonlySet<string> = new Set(['client_certificate', 'ca_certificate']);

/** A file of decK with the entity, and with all that it refers to, so that it can be read alone. */
export function deckContent(entity: DeckEntity): Readonly<Record<string, unknown>> {
  const content: Section = { _format_version: '3.0' };
  place(content, entity);
  return content;
}

/** Adds the entity where decK has it: in the entity that it belongs to, or at the top. */
function place(content: Section, { info, value, references }: DeckEntity): Section {
  const owner = ownerField(info, references);
  const written: Section = { ...value };
  for (const [field, referenced] of Object.entries(references)) {
    if (field === owner) {
      delete written[field];
      continue;
    }
    place(content, referenced);
    written[field] = referenceOf(field, referenced);
  }
  const parent = owner === null ? undefined : references[owner];
  const around = parent === undefined ? content : place(content, parent);
  const list = around[info.name];
  const known = Array.isArray(list) ? (list as Section[]) : [];
  const same = known.find((one) => one['id'] !== undefined && one['id'] === written['id']);
  if (same !== undefined) return same;
  around[info.name] = [...known, written];
  return written;
}

/** The reference to the entity in which decK writes this one; null: it is at the top. */
function ownerField({ name, references }: EntityInfo, given: Readonly<Record<string, DeckEntity>>): string | null {
  const fields = Object.keys(given);
  if (name === 'routes') return fields.includes('service') ? 'service' : null;
  if (name === 'plugins') return fields.length === 1 ? (fields[0] ?? null) : null;
  return (
    references.find(({ field, on_delete: action }) => action === 'cascade' && fields.includes(field))?.field ?? null
  );
}

function referenceOf(field: string, { info, value }: DeckEntity): unknown {
  if (objects.has(field)) return { id: value['id'] };
  const name = info.endpoint_key === null ? undefined : value[info.endpoint_key];
  return typeof name === 'string' && name !== '' ? name : value['id'];
}

/** The id of a reference; null: there is none. */
export function referenceId(value: unknown): string | null {
  return isObject(value) && typeof value['id'] === 'string' ? value['id'] : null;
}
