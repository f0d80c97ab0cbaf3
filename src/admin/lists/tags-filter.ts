import type { Query } from '../http/query.ts';
import { invalidOptions } from './list-errors.ts';

export interface TagsFilter {
  readonly all: boolean;
  readonly names: readonly string[];
}

const mostTags = 5;

/** `a,b` means entities having all of the tags, `a/b` any of them. Of several `tags` only the first counts, as in Kong. */
export function readTagsFilter(query: Query): TagsFilter | undefined {
  const text = query.first('tags');
  if (text === undefined) return undefined;
  if (text === '') throw invalidOptions({ tags: 'cannot be null' });
  const any = text.includes('/');
  if (any && text.includes(',')) throw invalidOptions({ tags: 'invalid filter syntax' });
  const names = text.split(any ? '/' : ',').filter((name) => name !== '');
  if (names.length === 0) throw invalidOptions({ tags: 'invalid filter syntax' });
  if (names.length > mostTags) throw invalidOptions({ tags: `cannot query more than ${mostTags} tags` });
  return { all: !any, names: [...new Set(names)] };
}
