import { StoreError, type StoreErrorDetail } from '../../store/store.ts';
import { type Check, MalformedMessage, object, oneOf, text } from './check-values.ts';
import type { WireError } from './messages.ts';

const anyText = text(10_000);
const kinds = oneOf('store', 'usage', 'failed');

/** Members of each kind, all texts; `fields` is an object. Names of methods and SQL never cross the link. */
const members: Readonly<Record<StoreErrorDetail['kind'], readonly string[]>> = {
  unique: ['entity'],
  'primary-key': ['entity', 'id'],
  'foreign-key': ['entity', 'field', 'references', 'id'],
  referenced: ['entity', 'by'],
  'not-found': ['entity', 'id'],
  'newer-store': ['found'],
  unavailable: [],
  refused: [],
};
const detailKinds = oneOf(...(Object.keys(members) as readonly StoreErrorDetail['kind'][]));

export const wireError: Check<WireError> = (value, name) => {
  const fields = object(value, name);
  const kind = kinds(fields['kind'], `${name}.kind`);
  const message = anyText(fields['message'], `${name}.message`);
  return kind === 'store' ? { kind, detail: detail(fields['detail'], `${name}.detail`), message } : { kind, message };
};

const detail: Check<StoreErrorDetail> = (value, name) => {
  const fields = object(value, name);
  const kind = detailKinds(fields['kind'], `${name}.kind`);
  const read: Record<string, unknown> = { kind };
  for (const member of members[kind]) read[member] = anyText(fields[member], `${name}.${member}`);
  if (kind === 'unique') read['fields'] = object(fields['fields'], `${name}.fields`);
  return read as StoreErrorDetail;
};

/** Null: the error says nothing that the other end may know. */
export function toWireError(error: unknown): WireError | null {
  if (error instanceof StoreError) return { kind: 'store', detail: error.detail, message: clip(error.message) };
  return error instanceof TypeError || error instanceof MalformedMessage
    ? { kind: 'usage', message: clip(error.message) }
    : null;
}

export function fromWireError(error: WireError): Error {
  if (error.kind === 'store') return new StoreError(error.detail, { message: error.message });
  return error.kind === 'usage' ? new TypeError(error.message) : new Error(error.message);
}

function clip(message: string): string {
  return message.slice(0, 2000);
}

export function unavailable(message: string): StoreError {
  return new StoreError({ kind: 'unavailable' }, { message });
}
