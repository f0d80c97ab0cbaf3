import { listElements } from '../../plugin-kit/http/index.ts';

const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i;
const paging = new Set(['next', 'prev', 'previous', 'first', 'last']);

/** The parts of the backend's `Link` other than its pages, which do not match the client's. */
export function withoutPagingLinks(values: readonly string[]): readonly string[] {
  return values.flatMap(listElements).filter((link) => !isOfPages(link));
}

function isOfPages(link: string): boolean {
  const found = relation.exec(link.slice(link.indexOf('>') + 1));
  if (found === null) return false;
  return (found[1] ?? found[2] ?? '').split(/\s+/).some((name) => paging.has(name.toLowerCase()));
}
