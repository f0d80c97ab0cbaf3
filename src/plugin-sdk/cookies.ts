import type { RequestView } from './request-views.ts';

/** Values of the cookies of that name, in order, over all `Cookie` lines; quotes around a value are dropped (RFC 6265). */
export function cookieValues(request: RequestView, name: string): readonly string[] {
  const values: string[] = [];
  for (const line of request.headerValues('cookie')) {
    for (const pair of line.split(';')) {
      const equals = pair.indexOf('=');
      if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
      const value = pair.slice(equals + 1).trim();
      values.push(value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value);
    }
  }
  return values;
}
