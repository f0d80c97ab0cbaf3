import type { AccessContext, HeaderFilterContext } from '../../plugin-sdk/index.ts';
import { fieldsOf, type HeadMask } from './head-mask.ts';
import type { RuleSets } from './rules/rule-sets.ts';

export function maskRequestHead({ request, upstream }: AccessContext, head: HeadMask): void {
  const underscores = underscored.test(request.block());
  for (const name of fieldsOf(head, () => request.headers())) {
    const values = upstream.headerValues(name);
    const masked = head.headers(name, values);
    if (masked === null) {
      // Many backends treat X_Name and X-Name alike: remove both.
      if (underscores && values.length === 0 && name.includes('-')) upstream.removeHeader(name);
      continue;
    }
    upstream.removeHeader(name);
    for (const [at, value] of masked.entries()) {
      if (at === 0) upstream.setHeader(name, value);
      else upstream.addHeader(name, value);
    }
  }
  if (head.query === null) return;
  const query = upstream.query();
  const masked = head.query(query);
  if (masked !== query) upstream.setQuery(masked);
}

/** A field name with an underscore. */
const underscored = /^[^:\r\n_]*_[^:\r\n]*:/m;

export function maskResponseHead({ response }: HeaderFilterContext, head: HeadMask): void {
  for (const name of fieldsOf(head, () => response.headers())) {
    const masked = head.headers(name, response.headerValues(name));
    if (masked === null) continue;
    // Removed first, so that nothing remains if a value is invalid.
    response.removeHeader(name);
    for (const value of masked) response.addHeader(name, value);
  }
}

/** Fields with URLs, whose queries are masked like that of the request. */
const addresses: ReadonlySet<string> = new Set(['referer', 'location', 'content-location']);

/** Masks a header for logs. `name` in lower case. */
export function loggedHeader(logs: HeadMask, name: string, value: string): string {
  const masked = logs.header(name, value);
  const mark = addresses.has(name) ? masked.indexOf('?') : -1;
  return mark < 0 || logs.query === null ? masked : masked.slice(0, mark + 1) + logs.query(masked.slice(mark + 1));
}

/** Some rule masks headers of responses. */
export function masksResponseHeaders({ rules }: RuleSets): boolean {
  return rules.some(
    ({ config, inHeaders }) =>
      config.direction !== 'request' && config.direction !== 'log' && (inHeaders || (config.headers?.length ?? 0) > 0),
  );
}

/** A transform that passes the body and removes trailers, for clients that accept them. */
export function withoutTrailers({ request }: HeaderFilterContext) {
  if (!/(?:^|,)[ \t]*trailers[ \t]*(?:$|[,;])/i.test(request.header('te') ?? '')) return null;
  return { chunk: (piece: Uint8Array) => piece, end: () => null, keepsTrailers: true };
}
