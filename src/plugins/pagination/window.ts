import type { PageRequest, Refused } from './page-request.ts';
import type { PaginationConfig } from './schema.ts';

/** The request to the backend, and the part of its response that is the client's page. */
export interface Window {
  /** Names and values for the backend's query. */
  readonly sent: readonly (readonly [string, string | number])[];
  /** Requested items. */
  readonly requested: number;
  /** Items of the response to skip, and the maximum to return. */
  readonly skip: number;
  readonly take: number;
  /** Number of the first returned item in the whole list; null: unknown. */
  readonly offset: number | null;
  /** The token that was sent. */
  readonly token: string | null;
}

export function windowFor(pageRequest: PageRequest, { backend, max_limit: most }: PaginationConfig): Window | Refused {
  const { limit, from } = pageRequest;
  if (backend.style === 'cursor' || backend.style === 'before') {
    const token = from !== null && 'token' in from ? from.token : null;
    const name = backend.style === 'cursor' ? backend.cursor_name : backend.before_name;
    const sent: (readonly [string, string | number])[] = [[backend.limit_name, limit]];
    if (token !== null) sent.push([name, token]);
    // A backend's cursor continues after its page: no item of it may be skipped.
    const take = backend.style === 'cursor' && pageRequest.style === 'cursor' ? Number.POSITIVE_INFINITY : limit;
    return { sent, requested: limit, skip: 0, take, offset: from === null ? 0 : null, token };
  }
  const offset = from !== null && 'offset' in from ? from.offset : 0;
  if (backend.style === 'offset') {
    const sent = [
      [backend.limit_name, limit],
      [backend.offset_name, offset],
    ] as const;
    return { sent, requested: limit, skip: 0, take: limit, offset, token: null };
  }
  const page = pageAround(offset, limit, backend.max_limit ?? most);
  const { requested, skip, take } = page ?? shortPage(offset, limit);
  // A client that counts items would treat a short page as the last one.
  if (page === null && pageRequest.style !== 'cursor') return { problem: 'the offset must be a multiple of the limit' };
  const sent = [
    [backend.limit_name, requested],
    [backend.page_name, Math.floor(offset / requested) + backend.first_page],
  ] as const;
  return { sent, requested, skip, take, offset, token: null };
}

interface Part {
  readonly requested: number;
  readonly skip: number;
  readonly take: number;
}

/** The smallest page size that has these items on one page; null: none within the limit. */
function pageAround(offset: number, limit: number, most: number): Part | null {
  for (let requested = limit; requested <= most; requested++) {
    const skip = offset % requested;
    if (skip + limit <= requested) return { requested, skip, take: limit };
  }
  return null;
}

/** The items up to the end of the page. */
function shortPage(offset: number, limit: number): Part {
  const skip = offset % limit;
  return { requested: limit, skip, take: limit - skip };
}
