import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCacheControl } from './cache-control.ts';
import { isNotModified, notModifiedLines, rangeHolds } from './conditions.ts';
import { ageOnArrival, freshFor } from './freshness.ts';
import { keepLines, linesOf, listOf } from './header-lines.ts';
import { parseHttpDate } from './http-date.ts';
import { updatedLines } from './judge.ts';
import { AddressKeys, urlOf, variantKey } from './keys.ts';
import { type CachePolicy, cachePolicy } from './policy.ts';
import { bodyRange } from './ranges.ts';
import type { ProxyCacheConfig } from './schema.ts';
import { ageOf, decode, encodeAnswer, encodeIndex } from './stored-answer.ts';

const now = Date.UTC(2026, 10, 21, 12, 0, 0);
const at = (seconds: number): string => new Date(now + seconds * 1000).toUTCString();
const lines = (...all: string[]): string => all.map((line) => `${line}\r\n`).join('');

describe('Cache-Control', () => {
  it('is read in any case, with values as tokens or between quotes', () => {
    const read = parseCacheControl('Max-Age="60", S-MAXAGE=5 , no-STORE,, public, stale-if-error=7');
    assert.deepEqual(
      [read.maxAge, read.sMaxAge, read.noStore, read.isPublic, read.staleIfError, read.noCache],
      [60, 5, true, true, 7, false],
    );
  });

  it('takes nothing from within a quoted value of something else', () => {
    const read = parseCacheControl('extension="no-store, max-age=3600, \\"public", max-age=1');
    assert.deepEqual([read.noStore, read.maxAge, read.isPublic], [false, 1, false]);
  });

  it('takes a time that is no number for 0, and the least of several', () => {
    for (const value of ['max-age=a', 'max-age=-1', 'max-age=1.5', 'max-age', 'max-age=10, max-age=0', 'max-age =60']) {
      assert.equal(parseCacheControl(value).maxAge, 0, value);
    }
    assert.equal(parseCacheControl('max-age=99999999999').maxAge, 2 ** 31);
  });

  it('takes the forms with field names for those without', () => {
    const read = parseCacheControl('private="x-a, x-b", no-cache="set-cookie"');
    assert.deepEqual([read.isPrivate, read.noCache], [true, true]);
  });

  it('is read in linear time', () => {
    const begun = performance.now();
    parseCacheControl(`${'a="'.repeat(20_000)}\\`);
    parseCacheControl(`${'max-age=1 '.repeat(20_000)}`);
    assert.ok(performance.now() - begun < 500);
  });
});

describe('dates', () => {
  it('are read in the three forms of RFC 9110', () => {
    const expected = Date.UTC(1994, 10, 6, 8, 49, 37);
    for (const text of [
      'Sun, 06 Nov 1994 08:49:37 GMT',
      'Sunday, 06-Nov-94 08:49:37 GMT',
      'Sun Nov  6 08:49:37 1994',
    ]) {
      assert.equal(parseHttpDate(text, now), expected, text);
    }
  });

  it('are nothing in any other', () => {
    for (const text of [
      '0',
      '',
      'Sun, 6 Nov 1994 08:49:37 GMT',
      'Sun, 06 Nov 1994 08:49:37 UTC',
      '1994-11-06T08:49:37Z',
    ]) {
      assert.equal(parseHttpDate(text, now), null, text);
    }
  });
});

describe('freshness', () => {
  const lifetime = (...all: string[]): number => {
    const block = lines(...all);
    return freshFor(block, parseCacheControl(listOf(block, 'cache-control')), now);
  };

  it('comes from s-maxage, then max-age, then Expires', () => {
    assert.equal(lifetime('Cache-Control: max-age=10, s-maxage=5', `Expires: ${at(100)}`), 5);
    assert.equal(lifetime('Cache-Control: max-age=10', `Expires: ${at(100)}`), 10);
    assert.equal(lifetime(`Expires: ${at(100)}`, `Date: ${at(-20)}`), 120);
    assert.equal(lifetime('Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT'), -1);
  });

  it('is over when Expires is no date, or is there twice', () => {
    assert.equal(lifetime('Expires: 0'), 0);
    assert.equal(lifetime(`Expires: ${at(100)}`, `Expires: ${at(200)}`), 0);
  });

  it('counts the age that an answer has when it comes, and the time it took', () => {
    assert.equal(ageOnArrival(lines('Age: 30', `Date: ${at(0)}`), now - 2000, now), 32);
    assert.equal(ageOnArrival(lines(`Date: ${at(-50)}`), now, now), 50);
    assert.ok(ageOnArrival(lines('Age: abc'), now, now) > 1e9);
    assert.ok(ageOnArrival(lines('Age: 0', 'Age: 0'), now, now) > 1e9);
  });
});

describe('conditions', () => {
  const answer = lines('ETag: "a,b"', `Last-Modified: ${at(-100)}`, `Date: ${at(0)}`);

  it('of If-None-Match compare weakly, one tag of a list or all', () => {
    for (const value of ['"a,b"', 'W/"a,b"', '"x", "a,b"', '*']) {
      assert.equal(isNotModified(lines(`If-None-Match: ${value}`), answer, now), true, value);
    }
    for (const value of ['"a"', '"x", "y"', 'a,b', '']) {
      assert.equal(isNotModified(lines(`If-None-Match: ${value}`), answer, now), false, value);
    }
  });

  it('of If-Modified-Since count only without If-None-Match', () => {
    assert.equal(isNotModified(lines(`If-Modified-Since: ${at(-100)}`), answer, now), true);
    assert.equal(isNotModified(lines(`If-Modified-Since: ${at(-101)}`), answer, now), false);
    assert.equal(isNotModified(lines('If-None-Match: "x"', `If-Modified-Since: ${at(0)}`), answer, now), false);
    assert.equal(isNotModified(lines('If-Modified-Since: yesterday'), answer, now), false);
  });

  it('of If-Range compare strongly', () => {
    assert.equal(rangeHolds(lines('If-Range: "a,b"'), answer, now), true);
    assert.equal(rangeHolds(lines('If-Range: W/"a,b"'), lines('ETag: W/"a,b"'), now), false);
    assert.equal(rangeHolds(lines(`If-Range: ${at(-100)}`), answer, now), true);
    assert.equal(rangeHolds(lines(`If-Range: ${at(-99)}`), answer, now), false);
    assert.equal(
      rangeHolds(lines(`If-Range: ${at(0)}`), lines(`Last-Modified: ${at(0)}`, `Date: ${at(0)}`), now),
      false,
    );
  });

  it('leave what describes a body out of a 304', () => {
    const kept = notModifiedLines(lines('Content-Type: text/plain', 'Content-Location: /x', 'ETag: "a"', 'Vary: A'));
    assert.equal(kept, lines('Content-Location: /x', 'ETag: "a"', 'Vary: A'));
  });
});

describe('ranges', () => {
  it('are read as RFC 9110 14.1.2 says', () => {
    const part = (range: string): unknown => bodyRange(range, 10);
    assert.deepEqual(part('bytes=0-1'), { first: 0, last: 1 });
    assert.deepEqual(part('bytes=5-'), { first: 5, last: 9 });
    assert.deepEqual(part('bytes=-3'), { first: 7, last: 9 });
    assert.deepEqual(part('bytes=-30'), { first: 0, last: 9 });
    assert.deepEqual(part('bytes=8-99'), { first: 8, last: 9 });
    for (const range of ['bytes=10-', 'bytes=-0']) assert.equal(part(range), 'unsatisfiable', range);
    for (const range of ['bytes=0-1,3-4', 'items=0-1', 'bytes=3-1', 'bytes=-', 'bytes=a-b', 'bytes']) {
      assert.equal(part(range), null, range);
    }
  });
});

describe('header lines', () => {
  it('are found by name, whatever their case and the blanks around values', () => {
    const block = lines('Vary:  A ', 'X-Vary: no', 'VARY: b');
    assert.deepEqual(linesOf(block, 'vary'), ['A', 'b']);
    assert.equal(
      keepLines(block, (name) => name !== 'vary'),
      lines('X-Vary: no'),
    );
  });

  it('of a 304 take the place of the kept ones, but for those that tell of the body', () => {
    const updated = updatedLines(
      lines('Content-Encoding: gzip', 'ETag: "1"', 'X-A: old', 'X-A: older', 'X-B: stays'),
      lines('Content-Encoding: br', 'Content-Length: 0', 'ETag: "2"', 'X-A: new', 'Set-Cookie: a=b'),
      'bypass',
      now,
    );
    assert.equal(updated, lines('Content-Encoding: gzip', 'ETag: "1"', 'X-B: stays', 'X-A: new', `Date: ${at(0)}`));
  });
});

describe('keys', () => {
  const address = { scheme: 'http', host: 'a.example', port: 8000, path: '/x', query: 'b=2&a=1&a=0' };
  const keys = new AddressKeys(policy({}));

  it('differ by scheme, host, port, path and query', () => {
    const changed = [
      { scheme: 'https' },
      { host: 'b.example' },
      { host: 'a.example:81' },
      { port: 8443 },
      { path: '/y' },
      { query: 'b=2' },
      { path: '/xb', query: '=2&a=1&a=0' },
      { path: '/X' },
    ].map((change) => keys.key({ ...address, ...change }));
    assert.equal(new Set([keys.key(address), ...changed]).size, changed.length + 1);
  });

  it('do not differ by the order of arguments, but by that of the values of one', () => {
    assert.equal(keys.key({ ...address, query: 'a=1&b=2&a=0' }), keys.key(address));
    assert.notEqual(keys.key({ ...address, query: 'a=0&b=2&a=1' }), keys.key(address));
  });

  it('hold only the arguments that are named, however they are written', () => {
    const some = new AddressKeys(policy({ arguments: new Set(['a']) }));
    assert.equal(some.key({ ...address, query: 'a=1&c=3' }), some.key({ ...address, query: 'a=1' }));
    assert.notEqual(some.key({ ...address, query: '%61=1' }), some.key({ ...address, query: '' }));
  });

  it('do not differ by case where that is asked for', () => {
    const blind = new AddressKeys(policy({ ignoreCase: true }));
    assert.equal(blind.key({ ...address, path: '/X' }), blind.key(address));
  });

  it('of variants hold the owner, whose it is, and the headers', () => {
    const place = { key: 'k', owner: 'o', who: 'w', address };
    const key = (given: Readonly<Record<string, readonly string[]>>, who = 'w', owner = 'o') =>
      variantKey({ ...place, owner }, who, 'g', ['a', 'b'], (name) => given[name] ?? []);
    const different = [
      key({}),
      key({ a: [''] }),
      key({ a: ['1'] }),
      key({ b: ['1'] }),
      key({ a: ['1', '2'] }),
      key({ a: ['1'] }, 'v'),
      key({ a: ['1'] }, 'w', 'p'),
    ];
    assert.equal(new Set(different).size, different.length);
    assert.equal(key({ a: ['1', '2'] }), key({ a: ['1 ,\t2'] }));
  });

  it('come with the URL that purges name', () => {
    assert.equal(urlOf({ ...address, path: '/a\nb\xff' }), 'http://a.example/a%0Ab%FF?b=2&a=1&a=0');
  });
});

describe('what is stored', () => {
  const answer = {
    status: 200,
    storedAt: now,
    owner: 'GET r s',
    block: lines('A: 1'),
    isPublic: true,
    alwaysValidate: false,
    neverStale: true,
    freshFor: 60.5,
    age: 1.25,
    staleWhileRevalidate: 3,
    staleIfError: 4,
  };

  it('is read back as it was', () => {
    assert.deepEqual(decode(encodeAnswer(answer)), { kind: 'answer', ...answer });
    const index = { generation: 'abc', hasPublic: true, names: ['a', 'b'] };
    assert.deepEqual(decode(encodeIndex(index)), { kind: 'index', ...index });
    assert.deepEqual(decode(encodeIndex({ ...index, names: [] })), { kind: 'index', ...index, names: [] });
    for (const text of ['', 'U1', 'A1', 'A1 200\n\n', 'A0 x']) assert.equal(decode(text), null, text);
  });

  it('has no age that could be told when it is from the future', () => {
    const stored = { kind: 'answer' as const, ...answer };
    assert.equal(ageOf(stored, now + 2000), 3.25);
    assert.equal(ageOf(stored, now - 500), 1.25);
    assert.equal(ageOf(stored, now - 3_600_000), Number.POSITIVE_INFINITY);
  });
});

describe('content types', () => {
  const keeps = (types: readonly string[]) => policy({}, { content_type: types }).keepsType;

  it('have to have the same parameters', () => {
    const json = keeps(['application/json']);
    assert.equal(json('Application/JSON'), true);
    assert.equal(json('application/json; charset=utf-8'), false);
    assert.equal(json(null), false);
    assert.equal(keeps(['application/json; charset=utf-8'])('application/json;charset=UTF-8'), true);
  });

  it('match stars with any parameters', () => {
    assert.equal(keeps(['text/*'])('text/html; charset=utf-8'), true);
    assert.equal(keeps(['text/*'])('application/json'), false);
    assert.equal(keeps(['*/*'])(null), true);
  });
});

function policy(change: Partial<CachePolicy>, config: Partial<ProxyCacheConfig> = {}): CachePolicy {
  const base = {
    request_method: ['GET'],
    response_code: [200],
    content_type: ['text/plain'],
    memory: { dictionary_name: 'x', size: '1m' },
    response_headers: {},
    tag_headers: [],
    vary_query_params: null,
    vary_headers: null,
    max_body: '1m',
    ...config,
  } as unknown as ProxyCacheConfig;
  return { ...cachePolicy(base, 'instance'), ...change };
}
