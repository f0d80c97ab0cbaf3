import type { Ask, Refused } from './ask.ts';
import type { PaginationConfig } from './schema.ts';

/** What to ask the backend for, and which part of its answer is the client's page. */
export interface Window {
  /** Names and values for the backend's query. */
  readonly sent: readonly (readonly [string, string | number])[];
  /** Items asked for. */
  readonly asked: number;
  /** Items of the answer to pass over, and to give at most. */
  readonly skip: number;
  readonly take: number;
  /** Number of the first item that is given, in the whole list; null: not known. */
  readonly offset: number | null;
  /** The token that was sent. */
  readonly token: string | null;
}

export function windowFor(ask: Ask, { backend, max_limit: most }: PaginationConfig): Window | Refused {
  const { limit, from } = ask;
  if (backend.style === 'cursor' || backend.style === 'before') {
    const token = from !== null && 'token' in from ? from.token : null;
    const name = backend.style === 'cursor' ? backend.cursor_name : backend.before_name;
    const sent: (readonly [string, string | number])[] = [[backend.limit_name, limit]];
    if (token !== null) sent.push([name, token]);
    // Where a backend's cursor goes on, its page has ended: nothing of it may be left out.
    const take = backend.style === 'cursor' && ask.style === 'cursor' ? Number.POSITIVE_INFINITY : limit;
    return { sent, asked: limit, skip: 0, take, offset: from === null ? 0 : null, token };
  }
  const offset = from !== null && 'offset' in from ? from.offset : 0;
  if (backend.style === 'offset') {
    const sent = [
      [backend.limit_name, limit],
      [backend.offset_name, offset],
    ] as const;
    return { sent, asked: limit, skip: 0, take: limit, offset, token: null };
  }
  const page = pageAround(offset, limit, backend.max_limit ?? most);
  const { asked, skip, take } = page ?? shortPage(offset, limit);
  // A client that counts items itself would take a short page for the last one.
  if (page === null && ask.style !== 'cursor') return { problem: 'the offset must be a multiple of the limit' };
  const sent = [
    [backend.limit_name, asked],
    [backend.page_name, Math.floor(offset / asked) + backend.first_page],
  ] as const;
  return { sent, asked, skip, take, offset, token: null };
}

interface Part {
  readonly asked: number;
  readonly skip: number;
  readonly take: number;
}

/** The smallest page size for which these items are on one page; null: there is none within the bound. */
function pageAround(offset: number, limit: number, most: number): Part | null {
  for (let asked = limit; asked <= most; asked++) {
    const skip = offset % asked;
    if (skip + limit <= asked) return { asked, skip, take: limit };
  }
  return null;
}

/** The items up to the end of the page. */
function shortPage(offset: number, limit: number): Part {
  const skip = offset % limit;
  return { asked: limit, skip, take: limit - skip };
}
