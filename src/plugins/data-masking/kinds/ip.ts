import { isIPv6 } from 'node:net';
import { matches, type Span } from './spans.ts';

const octet = '(?:25[0-5]|2[0-4]\\d|[01]?\\d?\\d)';
const v4 = new RegExp(`(?<!\\d)(?<!\\d\\.)(?:${octet}\\.){3}${octet}(?!\\d)(?!\\.\\d)`, 'g');
const v6Run = /(?<![0-9A-Za-z_:.])[0-9A-Fa-f:.]{3,}(?:%[0-9A-Za-z]{1,16})?/g;
const maxLength = 60;

/** IPv4 addresses with all four numbers, and IPv6 addresses in every notation of RFC 4291, including zones. */
export function findAddresses(text: string): readonly Span[] {
  const spans: Span[] = [];
  if (text.includes(':')) {
    for (const run of matches(text, v6Run, (match) => match.length <= maxLength + 17 && match.includes(':'))) {
      const end = v6End(text, run);
      if (end > 0) spans.push({ start: run.start, end });
    }
  }
  const v4Spans = matches(text, v4, (_, at) => !spans.some(({ start, end }) => at >= start && at < end));
  return spans.length === 0 ? v4Spans : [...spans, ...v4Spans].sort((a, b) => a.start - b.start);
}

/** -1: no address starts here. The end of a sentence or a port may follow an address. */
function v6End(text: string, { start, end }: Span): number {
  if (/[A-Za-z0-9_]/.test(text[end] ?? '')) return -1;
  const run = text.slice(start, end);
  for (const candidate of [run, run.replace(/[.:]+$/, ''), run.replace(/:\d{1,5}$/, ''), run.replace(/%.*$/, '')]) {
    // `::` and `a::b` also occur in source code.
    if (isIPv6(candidate) && /\d/.test(candidate)) return start + candidate.length;
  }
  return -1;
}
