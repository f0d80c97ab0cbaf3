import { listElements, mediaType } from '../../plugin-kit/http/index.ts';
import { looksLikeVersion } from './version-names.ts';
import type { VersionTable } from './versions.ts';

export interface MediaTypeRules {
  readonly parameter: string | null;
  readonly vendor: string | null;
  readonly table: VersionTable;
}

const maxElements = 64;

/**
 * The version that an `Accept` or a `Content-Type` names: by a parameter, or in a vendor type. Of several such types the one with
 * the highest weight counts, and the first of equal ones. Null: no version.
 */
export function acceptedVersion(field: string, rules: MediaTypeRules): string | null {
  let best = 0;
  let version: string | null = null;
  for (const text of listElements(field).slice(0, maxElements)) {
    const type = mediaType(text);
    if (type === null) continue;
    const weight = weightOf(type.parameter('q'));
    if (weight <= best) continue;
    const named =
      (rules.parameter === null ? null : type.parameter(rules.parameter)) || vendorVersion(type.type, rules);
    if (named === null || named === '') continue;
    best = weight;
    version = named;
  }
  return version;
}

function weightOf(text: string | null): number {
  if (text === null) return 1;
  const weight = Number(text);
  return weight >= 0 && weight <= 1 ? weight : 0;
}

/** `application/vnd.acme.v2+json`, and `application/vnd.acme.users.v2+json`. */
function vendorVersion(type: string, { vendor, table }: MediaTypeRules): string | null {
  if (vendor === null) return null;
  const start = type.indexOf('/') + 1;
  if (!type.startsWith(`${vendor}.`, start)) return null;
  const plus = type.lastIndexOf('+');
  const rest = type.slice(start + vendor.length + 1, plus < start ? undefined : plus);
  if (table.has(rest) || looksLikeVersion(rest)) return rest;
  return rest.split('.').find((part) => table.has(part) || looksLikeVersion(part)) ?? null;
}
