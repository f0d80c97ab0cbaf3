import type { AccessContext, HeaderFilterContext } from '../../plugin-sdk/index.ts';
import { fieldsOf, type HeadMask } from './head-mask.ts';
import type { RuleSets } from './rule-sets.ts';

export function maskRequestHead({ request, upstream }: AccessContext, head: HeadMask): void {
  const underscores = underscored.test(request.block());
  for (const name of fieldsOf(head, () => request.headers())) {
    const values = upstream.headerValues(name);
    const masked = head.headers(name, values);
    if (masked === null) {
      // Many backends cannot tell X_Name from X-Name; what is removed here is both.
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

/** A name of a field that has one. */
const underscored = /^[^:\r\n_]*_[^:\r\n]*:/m;

export function maskAnswerHead({ response }: HeaderFilterContext, head: HeadMask): void {
  for (const name of fieldsOf(head, () => response.headers())) {
    const masked = head.headers(name, response.headerValues(name));
    if (masked === null) continue;
    // First, so that nothing is left if a value cannot be written.
    response.removeHeader(name);
    for (const value of masked) response.addHeader(name, value);
  }
}

/** Fields that hold addresses, whose queries are like that of the request. */
const addresses: ReadonlySet<string> = new Set(['referer', 'location', 'content-location']);

/** A header field as logs show it, name in lower case. */
export function loggedHeader(logs: HeadMask, name: string, value: string): string {
  const masked = logs.header(name, value);
  const mark = addresses.has(name) ? masked.indexOf('?') : -1;
  return mark < 0 || logs.query === null ? masked : masked.slice(0, mark + 1) + logs.query(masked.slice(mark + 1));
}

/** Some rule masks headers of answers. */
export function masksFields({ rules }: RuleSets): boolean {
  return rules.some(
    ({ config, inHeaders }) =>
      config.direction !== 'request' && config.direction !== 'log' && (inHeaders || (config.headers?.length ?? 0) > 0),
  );
}

/** A transform that leaves the body alone and drops the fields behind it, for clients that would get them. */
export function withoutTrailers({ request }: HeaderFilterContext) {
  if (!/(?:^|,)[ \t]*trailers[ \t]*(?:$|[,;])/i.test(request.header('te') ?? '')) return null;
  return { chunk: (piece: Uint8Array) => piece, end: () => null, keepsTrailers: true };
}
