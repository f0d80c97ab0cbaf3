import type { AdminRequest } from '../http/admin-route.ts';
import { type HttpError, notFound, plainError } from '../http/http-error.ts';
import type { Query } from '../http/query.ts';
import { invalidOptions } from '../lists/list-errors.ts';

export const dryRunParameter = {
  name: 'dry_run',
  description: '1: change nothing; answer with what would change.',
  schema: { type: 'string', enum: ['0', '1'] },
};

export const changesParameter = {
  name: 'changes',
  description: 'Maximum number of changes in the answer. Default 1000.',
  schema: { type: 'integer', minimum: 0, maximum: 1_000_000 },
};

export function readSwitch({ first }: Query, name: string): boolean {
  const value = first(name) ?? '0';
  if (value !== '0' && value !== '1') throw invalidOptions({ [name]: 'must be 0 or 1' });
  return value === '1';
}

const defaultChanges = 1000;
const maxChanges = 1_000_000;

export function changesLimit({ first }: Query): number {
  const value = first('changes');
  if (value === undefined) return defaultChanges;
  if (!/^\d{1,7}$/.test(value) || Number(value) > maxChanges) {
    throw invalidOptions({ changes: `must be an integer between 0 and ${maxChanges}` });
  }
  return Number(value);
}

/** The version in the path. Throws 404 for what is no version. */
export function versionOf(request: AdminRequest): number {
  const version = versionIn(request.params['config_versions'] ?? '');
  if (version === null) throw notFound();
  return version;
}

/** Null: no version. */
export function versionIn(text: string): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

export const notKept = (version: number): HttpError => plainError(404, `version ${version} of the config is not kept`);
