import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpError } from '../http/http-error.ts';
import { parseQuery } from '../http/query.ts';
import { readTagsFilter } from './tags-filter.ts';

const read = (query: string): unknown => readTagsFilter(parseQuery(`/services?${query}`));

test('a comma requires all tags, a slash any of them', () => {
  assert.equal(read(''), undefined);
  assert.deepEqual(read('tags=a'), { all: true, names: ['a'] });
  assert.deepEqual(read('tags=a,b'), { all: true, names: ['a', 'b'] });
  assert.deepEqual(read('tags=a%2Cb%20c'), { all: true, names: ['a', 'b c'] });
  assert.deepEqual(read('tags=a%2Fb'), { all: false, names: ['a', 'b'] });
});

test('a separator at the end adds an empty tag, which no entity has', () => {
  assert.deepEqual(read('tags=a,'), { all: true, names: ['a', ''] });
  assert.deepEqual(read('tags=a%2F'), { all: false, names: ['a', ''] });
});

test('of several filters the first counts', () => {
  assert.deepEqual(read('tags=a&tags=b'), { all: true, names: ['a'] });
});

test('a bad filter is refused with the message of Kong', () => {
  const messages: Readonly<Record<string, string>> = {
    '': 'invalid option (tags: cannot be null)',
    'a,b/c': 'invalid option (tags: invalid filter syntax)',
    ',': 'invalid option (tags: invalid filter syntax)',
    ',a': 'invalid option (tags: invalid filter syntax)',
    'a,,b': 'invalid option (tags: invalid filter syntax)',
    'a,b,c,d,e,f': 'invalid option (tags: cannot query more than 5 tags)',
  };
  for (const [tags, message] of Object.entries(messages)) {
    assert.throws(
      () => read(`tags=${tags}`),
      (error) => error instanceof HttpError && error.status === 400 && error.message === message,
    );
  }
});
