import type { HeaderBlock } from '../../plugin-sdk/index.ts';
import { keepLines, lineOf, listOf } from './header-lines.ts';
import { parseHttpDate } from './http-date.ts';

/**
 * Whether the client has what a stored answer says already (RFC 9110 13.2.2). `request` and `answer` are header blocks.
 * `If-Modified-Since` counts only without `If-None-Match`.
 */
export function isNotModified(request: HeaderBlock, answer: HeaderBlock, now: number): boolean {
  const tags = listOf(request, 'if-none-match');
  if (tags !== null) return matchesAny(tags, lineOf(answer, 'etag'));
  const since = lineOf(request, 'if-modified-since');
  if (since === null) return false;
  const limit = parseHttpDate(since, now);
  const modified = lineOf(answer, 'last-modified') ?? lineOf(answer, 'date');
  const changed = modified === null ? null : parseHttpDate(modified, now);
  return limit !== null && changed !== null && changed <= limit;
}

/** Whether the part that `Range` asks for may be sent: `If-Range` is absent, or names this very representation (RFC 9110 13.1.5). */
export function rangeHolds(request: HeaderBlock, answer: HeaderBlock, now: number): boolean {
  const condition = lineOf(request, 'if-range');
  if (condition === null) return true;
  if (condition.startsWith('"')) return condition === lineOf(answer, 'etag');
  const modified = lineOf(answer, 'last-modified');
  const date = lineOf(answer, 'date');
  if (modified === null || date === null || modified !== condition) return false;
  // A date is a strong validator only when nothing more can have changed within its second (RFC 9110 8.8.2.2).
  const [changed, sent] = [parseHttpDate(modified, now), parseHttpDate(date, now)];
  return changed !== null && sent !== null && sent - changed >= 1000;
}

/** Header lines of a 304 that stands for an answer: none that describe a body that is not there (RFC 9110 15.4.5). */
export function notModifiedLines(answer: HeaderBlock): HeaderBlock {
  return keepLines(answer, (name) => !name.startsWith('content-') || name === 'content-location');
}

const entityTag = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"|\*|[^\s,]+/g;

function matchesAny(list: string, tag: string | null): boolean {
  if (list.trim() === '*') return true;
  if (tag === null) return false;
  const wanted = opaque(tag);
  return list.match(entityTag)?.some((one) => opaque(one) === wanted) ?? false;
}

/** Validators are compared weakly here (RFC 9110 8.8.3.2). */
function opaque(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
