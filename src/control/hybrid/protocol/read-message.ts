import type { Change } from '../../store/store.ts';
import {
  boolean,
  type Check,
  fail,
  integer,
  list,
  MalformedMessage,
  nullable,
  object,
  oneOf,
  position,
  row,
  text,
  texts,
  uuid,
  word,
} from './check-values.ts';
import type { Peer, ProtocolRange, ToControlPlane, ToDataPlane } from './messages.ts';
import { wireError } from './wire-errors.ts';

type Fields = Readonly<Record<string, unknown>>;
type Readers<T extends { readonly t: string }> = {
  readonly [K in T['t']]: (fields: Fields) => Extract<T, { readonly t: K }>;
};

const callId = integer(0);
const anyText = text(Number.MAX_SAFE_INTEGER);
const reason = text(2000);
const maxRows = 100_000;

const toControlPlane: Readers<ToControlPlane> = {
  hello: (fields) => ({
    t: 'hello',
    protocol: range(fields['protocol']),
    features: list(word, 100)(fields['features'], 'features'),
    node: peer(fields['node']),
    labels: texts(100, 255)(fields['labels'], 'labels'),
    position: nullable(position)(fields['position'], 'position'),
  }),
  call: (fields) => ({
    t: 'call',
    id: callId(fields['id'], 'id'),
    method: word(fields['method'], 'method'),
    args: fields['args'],
  }),
  synced: (fields) => ({ t: 'synced', version: integer(-1)(fields['version'], 'version') }),
  resend: () => ({ t: 'resend' }),
};

const toDataPlane: Readers<ToDataPlane> = {
  welcome: (fields) => ({
    t: 'welcome',
    protocol: integer(1)(fields['protocol'], 'protocol'),
    features: list(word, 100)(fields['features'], 'features'),
    node: peer(fields['node']),
    now: integer(0)(fields['now'], 'now'),
  }),
  refused: (fields) => ({
    t: 'refused',
    reason: reason(fields['reason'], 'reason'),
    retryAfter: nullable(integer(0, 3_600_000))(fields['retryAfter'], 'retryAfter'),
  }),
  leave: (fields) => ({ t: 'leave', within: integer(0, 3_600_000)(fields['within'], 'within') }),
  changes: (fields) => ({
    t: 'changes',
    changes: list(change, maxRows)(fields['changes'], 'changes'),
    position: nullable(position)(fields['position'], 'position'),
  }),
  begin: () => ({ t: 'begin' }),
  rows: (fields) => ({
    t: 'rows',
    entity: word(fields['entity'], 'entity'),
    rows: list(row, maxRows)(fields['rows'], 'rows'),
  }),
  config: (fields) => ({
    t: 'config',
    position: position(fields['position'], 'position'),
    rows: integer(0)(fields['rows'], 'rows'),
  }),
  result: (fields) => ({ t: 'result', id: callId(fields['id'], 'id'), value: fields['value'] }),
  failure: (fields) => ({
    t: 'failure',
    id: callId(fields['id'], 'id'),
    error: wireError(fields['error'], 'error'),
  }),
  part: (fields) => ({
    t: 'part',
    text: anyText(fields['text'], 'text'),
    last: boolean(fields['last'], 'last'),
  }),
};

/** Null: a type that this version does not know. Throws a `MalformedMessage`. */
export function readFromDataPlane(json: string): ToControlPlane | null {
  return read(json, toControlPlane);
}

/** Null: a type that this version does not know. Throws a `MalformedMessage`. */
export function readFromControlPlane(json: string): ToDataPlane | null {
  return read(json, toDataPlane);
}

function read<T extends { readonly t: string }>(json: string, readers: Readers<T>): T | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new MalformedMessage('the message is not JSON');
  }
  const fields = object(value, 'the message');
  const type = word(fields['t'], 't');
  if (!Object.hasOwn(readers, type)) return null;
  return readers[type as T['t']](fields);
}

function range(value: unknown): ProtocolRange {
  const fields = object(value, 'protocol');
  const min = integer(1)(fields['min'], 'protocol.min');
  return { min, max: integer(min)(fields['max'], 'protocol.max') };
}

function peer(value: unknown): Peer {
  const fields = object(value, 'node');
  return {
    id: uuid(fields['id'], 'node.id'),
    hostname: word(fields['hostname'], 'node.hostname'),
    version: word(fields['version'], 'node.version'),
  };
}

const operation = oneOf('upsert', 'delete');

const change: Check<Change> = (value, name) => {
  const fields = object(value, name);
  const found: Change = {
    version: integer(0)(fields['version'], `${name}.version`),
    entity: word(fields['entity'], `${name}.entity`),
    id: text(1024)(fields['id'], `${name}.id`),
    operation: operation(fields['operation'], `${name}.operation`),
    row: nullable(row)(fields['row'], `${name}.row`),
  };
  if (found.row !== null && found.row.id !== found.id) fail(`${name}.row`, 'the row of its id');
  return found;
};
