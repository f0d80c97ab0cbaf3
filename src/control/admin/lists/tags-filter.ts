import type { Query } from '../http/query.ts';
import { invalidOptions } from './list-errors.ts';

export interface TagsFilter {
  readonly all: boolean;
  readonly names: readonly string[];
}

const maxTags = 5;

/**
 * `a,b` means entities having all of the tags, `a/b` any of them. Only the first of several `tags` counts. A trailing separator
 * is allowed and adds an empty tag, so `a,` matches nothing. Both as in Kong.
 */
export function readTagsFilter(query: Query): TagsFilter | undefined {
  const text = query.first('tags');
  if (text === undefined) return undefined;
  if (text === '') throw invalidOptions({ tags: 'cannot be null' });
  const any = text.includes('/');
  if (any && text.includes(',')) throw invalidOptions({ tags: 'invalid filter syntax' });
  const names = text.split(any ? '/' : ',');
  if (names.slice(0, -1).includes('')) throw invalidOptions({ tags: 'invalid filter syntax' });
  if (names.length > maxTags) throw invalidOptions({ tags: `cannot query more than ${maxTags} tags` });
  return { all: !any, names: [...new Set(names)] };
}
