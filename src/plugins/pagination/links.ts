import { sealCursor } from './cursors.ts';
import type { PageRequest } from './page-request.ts';
import { withArguments } from './query.ts';
import type { Job, Page } from './rewrite.ts';
import type { PaginationConfig } from './schema.ts';

type Start = string | number | null;

/** The `Link` value of a page (RFC 8288): references to the path, in the client's own style. */
export function linkValue(
  path: string,
  pageRequest: PageRequest,
  page: Page,
  job: Job,
  config: PaginationConfig,
): string {
  const { client } = config;
  const { style, limit, others, from } = pageRequest;
  const link = (rel: string, size: number, start: Start): string => {
    const own: (readonly [string, string | number])[] = [[client.limit_name, size]];
    if (start !== null) own.push([client[`${style}_name`], start]);
    return `<${reference(path, withArguments(others, own))}>; rel="${rel}"`;
  };
  const startAt = (offset: number): Start => {
    if (style === 'offset') return offset;
    if (style === 'page') return Math.floor(offset / limit) + client.first_page;
    const { cursor } = job;
    return cursor === null || offset === 0 ? null : sealCursor(cursor.secret, cursor.list, { offset }, cursor.expires);
  };
  const byNumber = style === 'page' || style === 'offset';
  const offset = from !== null && 'offset' in from ? from.offset : 0;
  const links: string[] = [];
  if (page.next !== null) links.push(link('next', limit, nextStart(pageRequest, page, offset, startAt)));
  links.push(link('first', limit, byNumber ? startAt(0) : null));
  if (offset > 0) {
    const before = Math.max(0, offset - limit);
    // A previous page that would overlap this one is smaller; numbered pages all have the same size.
    links.push(link('prev', style === 'page' ? limit : offset - before, startAt(before)));
  }
  if (byNumber && page.total !== null) links.push(link('last', limit, startAt(lastOffset(page.total, limit, offset))));
  return links.join(', ');
}

/** Two leading slashes would mean another host, and characters that are not allowed in a URI could end the reference. */
function reference(path: string, query: string): string {
  return `${path.replace(/^\/+/, '/')}?${query}`.replace(notOfUris, (char) => {
    return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

const notOfUris = /[^\w!#$%&'()*+,\-./:;=?@[\]~]/g;

function nextStart(
  { style, limit }: PageRequest,
  page: Page,
  offset: number,
  startAt: (offset: number) => Start,
): Start {
  if (style === 'cursor') return page.cursor;
  if (page.next !== null && style === 'before') return 'token' in page.next ? page.next.token : null;
  return startAt(offset + (style === 'page' ? limit : page.count));
}

/** The last page, counted from this one. */
function lastOffset(total: number, limit: number, offset: number): number {
  const shift = offset % limit;
  return total <= shift ? 0 : Math.floor((total - 1 - shift) / limit) * limit + shift;
}
