import type { KongEntity } from '../kong-entity.ts';
import type { LeftOut } from './left-out.ts';

/** Values that are references to a vault: they are stored, and the plugin instance does not run until they are replaced. */
export function vaultReferences(entity: KongEntity): readonly LeftOut[] {
  return pathsOf(entity.fields, '').map((path) => ({
    what: `the value of ${path} of ${entity.label}`,
    why: 'it is a reference to a vault, and there are none',
    todo: 'write the value itself: until then, requests that need it are answered with 500',
    choices: [],
    accepted: true,
  }));
}

function pathsOf(value: unknown, path: string): readonly string[] {
  if (typeof value === 'string') return value.startsWith('{vault://') ? [path] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, path === '' ? name : `${path}.${name}`));
}
