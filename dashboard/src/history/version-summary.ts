import { singular } from '../config/collections.ts';
import type { AuditRecord, Version } from './queries.ts';

const verbs: Readonly<Record<string, string>> = { create: 'created', update: 'changed', delete: 'deleted' };
const number = new Intl.NumberFormat();

/** What a version did, on one line: the names of its entities where the audit knows them, else their numbers. */
export function summaryOf(version: Version, records: readonly AuditRecord[]): string {
  if (version.action === 'start') return 'The history begins';
  if (version.action === 'rollback' || version.action === 'undo') return `${titleOf(version)} ${version.note ?? ''}`;
  const [first] = records.filter(({ entity }) => entity !== null);
  const total = version.created + version.updated + version.deleted;
  if (version.action === 'write' && first !== undefined) {
    const name = first.name ?? first.entity_id?.slice(0, 8) ?? '';
    const others = total > 1 ? ` and ${number.format(total - 1)} more` : '';
    return `${capital(verbs[first.operation] ?? first.operation)} ${singular(first.entity ?? '')} ${name}${others}`;
  }
  return `${titleOf(version)}: ${countsText(version)}`;
}

export function titleOf({ action }: Version): string {
  switch (action) {
    case 'apply':
      return 'Applied a document';
    case 'rollback':
      return 'Rolled back';
    case 'undo':
      return 'Undone: the change';
    case 'start':
      return 'The history begins';
    case 'write':
      return 'Changed';
  }
}

export function countsText({ created, updated, deleted }: Pick<Version, 'created' | 'updated' | 'deleted'>): string {
  const parts = [
    created > 0 ? `${number.format(created)} created` : '',
    updated > 0 ? `${number.format(updated)} changed` : '',
    deleted > 0 ? `${number.format(deleted)} deleted` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'nothing differs' : parts.join(', ');
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
