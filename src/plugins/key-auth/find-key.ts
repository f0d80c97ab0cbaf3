import type { BodyArguments } from '../../plugin-kit/http/index.ts';
import { type Reply, type RequestView, refuse } from '../../plugin-sdk/index.ts';
import type { KeyAuthConfig } from './schema.ts';

export interface Refusals {
  readonly missing: Reply;
  readonly duplicate: Reply;
  readonly unknown: Reply;
  /** Not a 401: another authentication method would not help. */
  readonly unreadable: Reply;
}

export function keyRefusals(realm: string | null): Refusals {
  const quoted = realm === null ? '' : ` realm="${realm.replace(/["\\]/g, '\\$&').replace(/[\0-\x1f\x7f]/g, '')}"`;
  const headers = { 'WWW-Authenticate': `Key${quoted}` };
  return {
    missing: refuse(401, 'No API key found in request', headers),
    duplicate: refuse(401, 'Duplicate API key found', headers),
    unknown: refuse(401, 'Unauthorized', headers),
    unreadable: refuse(400, 'The body cannot be read'),
  };
}

/** The key of a request, or the reason why it has no valid one. `body`: null when it is not searched. */
export type FindKey = (request: RequestView, body: BodyArguments | null) => string | Reply;

export function keyFinder(config: KeyAuthConfig, refusals: Refusals): FindKey {
  const { key_in_header: inHeader, key_in_query: inQuery } = config;
  const names = config.key_names.map((name) => ({ name, lower: name.toLowerCase() }));
  const chosen = (values: readonly string[]): string | Reply => {
    if (values.length > 1) return refusals.duplicate;
    return values[0] || refusals.missing;
  };
  return (request, body) => {
    for (const { name, lower } of names) {
      if (inHeader) {
        const values = request.headerValues(lower);
        if (values.length > 0) return asText(chosen(values));
      }
      if (inQuery && mayName(request.query, name)) {
        const values = request.queryArguments()[name];
        if (values !== undefined) return chosen(values);
      }
      const values = body?.get(name);
      if (values !== undefined) return chosen(values);
    }
    return refusals.missing;
  };
}

const escapes = /[%+]/;

/** Avoids decoding the query of most requests. */
function mayName(query: string, name: string): boolean {
  return query !== '' && (query.includes(name) || escapes.test(query));
}

const beyondAscii = /[\x80-\xff]/;

/** Header values have one char for each byte; keys are text. */
function asText(found: string | Reply): string | Reply {
  return typeof found === 'string' && beyondAscii.test(found) ? Buffer.from(found, 'latin1').toString('utf8') : found;
}
