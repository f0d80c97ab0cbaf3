import type { Row } from '../../../shared/entities/entity.ts';
import type { ListQuery } from '../../store/store.ts';
import {
  boolean,
  type Check,
  fail,
  integer,
  list,
  nullable,
  number,
  object,
  oneOf,
  optional,
  row,
  text,
  word,
} from './check-values.ts';

/** A read within a transaction: the control plane repeats it before it commits. */
export type TransactionRead =
  | { readonly kind: 'find'; readonly entity: string; readonly field: string; readonly value: string }
  | { readonly kind: 'list'; readonly entity: string; readonly query: ListQuery }
  | { readonly kind: 'count'; readonly entity: string };

/** `tag` identifies the answer. */
export interface NotedRead {
  readonly read: TransactionRead;
  readonly tag: string;
}

export type TransactionWrite =
  | { readonly kind: 'insert'; readonly entity: string; readonly row: Row; readonly keepCreatedAt: boolean }
  | { readonly kind: 'update'; readonly entity: string; readonly row: Row; readonly renewCreatedAt: boolean }
  /** `found`: whether there was a row. */
  | { readonly kind: 'delete'; readonly entity: string; readonly id: string; readonly found: boolean };

export interface Commit {
  readonly reads: readonly NotedRead[];
  readonly writes: readonly TransactionWrite[];
}

/** `rows`: as stored, one for each write; null for a deletion. */
export type CommitResult =
  | { readonly kind: 'committed'; readonly version: number; readonly rows: readonly (Row | null)[] }
  | { readonly kind: 'conflict' };

export interface ReadResult {
  readonly value: unknown;
  readonly tag: string;
}

/** Maximum rows of one answer. */
export const maxListed = 10_000;
/** Maximum reads, and maximum writes, of one transaction. */
export const maxOperations = 10_000;

const value = text(1024 * 1024);
const values = list(value, 1000);
const order = oneOf('asc', 'desc');
const readKinds = oneOf('find', 'list', 'count');
const writeKinds = oneOf('insert', 'update', 'delete');

const condition: Check<string | readonly string[] | null> = (given, name) => {
  if (given === null) return null;
  return Array.isArray(given) ? values(given, name) : value(given, name);
};

export const listQuery: Check<ListQuery> = (given, name) => {
  const { where, tags, order: wanted, after, createdBefore, skip, limit } = object(given, name);
  return {
    limit: integer(0, maxListed)(limit, `${name}.limit`),
    ...(where === undefined ? {} : { where: conditions(where, `${name}.where`) }),
    ...(tags === undefined ? {} : { tags: tagFilter(tags, `${name}.tags`) }),
    ...(wanted === undefined ? {} : { order: order(wanted, `${name}.order`) }),
    ...(after === undefined ? {} : { after: listPosition(after, `${name}.after`) }),
    ...(createdBefore === undefined ? {} : { createdBefore: number(createdBefore, `${name}.createdBefore`) }),
    ...(skip === undefined ? {} : { skip: integer(0, maxListed)(skip, `${name}.skip`) }),
  };
};

export const transactionRead: Check<TransactionRead> = (given, name) => {
  const fields = object(given, name);
  const kind = readKinds(fields['kind'], `${name}.kind`);
  const entity = word(fields['entity'], `${name}.entity`);
  if (kind === 'count') return { kind, entity };
  if (kind === 'list') return { kind, entity, query: listQuery(fields['query'], `${name}.query`) };
  return {
    kind,
    entity,
    field: word(fields['field'], `${name}.field`),
    value: value(fields['value'], `${name}.value`),
  };
};

const transactionWrite: Check<TransactionWrite> = (given, name) => {
  const fields = object(given, name);
  const kind = writeKinds(fields['kind'], `${name}.kind`);
  const entity = word(fields['entity'], `${name}.entity`);
  if (kind === 'delete') {
    const id = value(fields['id'], `${name}.id`);
    return { kind, entity, id, found: boolean(fields['found'], `${name}.found`) };
  }
  const written = row(fields['row'], `${name}.row`);
  const flag = (member: string): boolean => optional(boolean)(fields[member], `${name}.${member}`) ?? false;
  return kind === 'insert'
    ? { kind, entity, row: written, keepCreatedAt: flag('keepCreatedAt') }
    : { kind, entity, row: written, renewCreatedAt: flag('renewCreatedAt') };
};

const notedRead: Check<NotedRead> = (given, name) => {
  const fields = object(given, name);
  return { read: transactionRead(fields['read'], `${name}.read`), tag: word(fields['tag'], `${name}.tag`) };
};

export const commit: Check<Commit> = (given, name) => {
  const fields = object(given, name);
  return {
    reads: list(notedRead, maxOperations)(fields['reads'], `${name}.reads`),
    writes: list(transactionWrite, maxOperations)(fields['writes'], `${name}.writes`),
  };
};

const resultKinds = oneOf('committed', 'conflict');

export const commitResult: Check<CommitResult> = (given, name) => {
  const fields = object(given, name);
  if (resultKinds(fields['kind'], `${name}.kind`) === 'conflict') return { kind: 'conflict' };
  return {
    kind: 'committed',
    version: integer(0)(fields['version'], `${name}.version`),
    rows: list(nullable(row), maxOperations)(fields['rows'], `${name}.rows`),
  };
};

function conditions(given: unknown, name: string): Readonly<Record<string, string | readonly string[] | null>> {
  const entries = Object.entries(object(given, name));
  if (entries.length > 10) fail(name, 'a short list of conditions');
  return Object.fromEntries(entries.map(([field, item]) => [field, condition(item, `${name}.${field}`)]));
}

function tagFilter(given: unknown, name: string): NonNullable<ListQuery['tags']> {
  const fields = object(given, name);
  return { all: boolean(fields['all'], `${name}.all`), names: list(word, 100)(fields['names'], `${name}.names`) };
}

function listPosition(given: unknown, name: string): NonNullable<ListQuery['after']> {
  const fields = object(given, name);
  return { createdAt: number(fields['createdAt'], `${name}.createdAt`), id: word(fields['id'], `${name}.id`) };
}
