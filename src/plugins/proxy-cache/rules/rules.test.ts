import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cpuTime } from '../../../../test/support/cpu-time.ts';
import { cachePolicy } from '../handler.ts';
import type { ProxyCacheConfig } from '../schema.ts';
import { parseCacheControl } from './cache-control.ts';
import { AddressKeys, urlOf, variantKey } from './cache-key.ts';
import { updatedHeaders } from './cacheability.ts';
import { ifRangeHolds, isNotModified, notModifiedHeaders, parseRange } from './cached-reply.ts';
import { currentAge, freshnessLifetime, initialAge } from './freshness.ts';
import { filterHeaders, headerList, headerValues, parseHttpDate } from './header-fields.ts';
import type { CachePolicy } from './policy.ts';

const now = Date.UTC(2026, 10, 21, 12, 0, 0);
const at = (seconds: number): string => new Date(now + seconds * 1000).toUTCString();
const lines = (...all: string[]): string => all.map((line) => `${line}\r\n`).join('');

describe('Cache-Control', () => {
  it('is parsed case-insensitively, with values as tokens or quoted strings', () => {
    const read = parseCacheControl('Max-Age="60", S-MAXAGE=5 , no-STORE,, public, stale-if-error=7');
    assert.deepEqual(
      [read.maxAge, read.sMaxAge, read.noStore, read.isPublic, read.staleIfError, read.noCache],
      [60, 5, true, true, 7, false],
    );
  });

  it('ignores directives inside the quoted value of another one', () => {
    const read = parseCacheControl('extension="no-store, max-age=3600, \\"public", max-age=1');
    assert.deepEqual([read.noStore, read.maxAge, read.isPublic], [false, 1, false]);
  });

  it('treats a duration that is not a number as 0, and uses the smallest of several', () => {
    for (const value of ['max-age=a', 'max-age=-1', 'max-age=1.5', 'max-age', 'max-age=10, max-age=0', 'max-age =60']) {
      assert.equal(parseCacheControl(value).maxAge, 0, value);
    }
    assert.equal(parseCacheControl('max-age=99999999999').maxAge, 2 ** 31);
  });

  it('treats directives with field names like those without', () => {
    const read = parseCacheControl('private="x-a, x-b", no-cache="set-cookie"');
    assert.deepEqual([read.isPrivate, read.noCache], [true, true]);
  });

  it('is parsed in linear time', () => {
    const start = cpuTime();
    parseCacheControl(`${'a="'.repeat(20_000)}\\`);
    parseCacheControl(`${'max-age=1 '.repeat(20_000)}`);
    assert.ok(cpuTime() - start < 500);
  });
});

describe('dates', () => {
  it('are parsed in the three forms of RFC 9110', () => {
    const expected = Date.UTC(1994, 10, 6, 8, 49, 37);
    for (const text of [
      'Sun, 06 Nov 1994 08:49:37 GMT',
      'Sunday, 06-Nov-94 08:49:37 GMT',
      'Sun Nov  6 08:49:37 1994',
    ]) {
      assert.equal(parseHttpDate(text, now), expected, text);
    }
  });

  it('are rejected in any other form', () => {
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
    const headers = lines(...all);
    return freshnessLifetime(headers, parseCacheControl(headerList(headers, 'cache-control')), now);
  };

  it('comes from s-maxage, then max-age, then Expires', () => {
    assert.equal(lifetime('Cache-Control: max-age=10, s-maxage=5', `Expires: ${at(100)}`), 5);
    assert.equal(lifetime('Cache-Control: max-age=10', `Expires: ${at(100)}`), 10);
    assert.equal(lifetime(`Expires: ${at(100)}`, `Date: ${at(-20)}`), 120);
    assert.equal(lifetime('Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT'), -1);
  });

  it('has ended if Expires is not a date, or occurs twice', () => {
    assert.equal(lifetime('Expires: 0'), 0);
    assert.equal(lifetime(`Expires: ${at(100)}`, `Expires: ${at(200)}`), 0);
  });

  it('counts the age of a received response, and the time of the request', () => {
    assert.equal(initialAge(lines('Age: 30', `Date: ${at(0)}`), now - 2000, now), 32);
    assert.equal(initialAge(lines(`Date: ${at(-50)}`), now, now), 50);
    assert.ok(initialAge(lines('Age: abc'), now, now) > 1e9);
    assert.ok(initialAge(lines('Age: 0', 'Age: 0'), now, now) > 1e9);
  });
});

describe('the current age', () => {
  const response = {
    kind: 'response' as const,
    status: 200,
    storedAt: now,
    partition: 'GET r s',
    headers: lines('A: 1'),
    isPublic: true,
    alwaysValidate: false,
    neverStale: true,
    freshnessLifetime: 60.5,
    initialAge: 1.25,
    staleWhileRevalidate: 3,
    staleIfError: 4,
  };

  it('of a response that was stored in the future is infinite', () => {
    assert.equal(currentAge(response, now + 2000), 3.25);
    assert.equal(currentAge(response, now - 500), 1.25);
    assert.equal(currentAge(response, now - 3_600_000), Number.POSITIVE_INFINITY);
  });
});

describe('conditions', () => {
  const stored = lines('ETag: "a,b"', `Last-Modified: ${at(-100)}`, `Date: ${at(0)}`);

  it('of If-None-Match compare weakly with each tag of a list, or match all', () => {
    for (const value of ['"a,b"', 'W/"a,b"', '"x", "a,b"', '*']) {
      assert.equal(isNotModified(lines(`If-None-Match: ${value}`), stored, now), true, value);
    }
    for (const value of ['"a"', '"x", "y"', 'a,b', '']) {
      assert.equal(isNotModified(lines(`If-None-Match: ${value}`), stored, now), false, value);
    }
  });

  it('of If-Modified-Since count only without If-None-Match', () => {
    assert.equal(isNotModified(lines(`If-Modified-Since: ${at(-100)}`), stored, now), true);
    assert.equal(isNotModified(lines(`If-Modified-Since: ${at(-101)}`), stored, now), false);
    assert.equal(isNotModified(lines('If-None-Match: "x"', `If-Modified-Since: ${at(0)}`), stored, now), false);
    assert.equal(isNotModified(lines('If-Modified-Since: yesterday'), stored, now), false);
  });

  it('of If-Range compare strongly', () => {
    assert.equal(ifRangeHolds(lines('If-Range: "a,b"'), stored, now), true);
    assert.equal(ifRangeHolds(lines('If-Range: W/"a,b"'), lines('ETag: W/"a,b"'), now), false);
    assert.equal(ifRangeHolds(lines(`If-Range: ${at(-100)}`), stored, now), true);
    assert.equal(ifRangeHolds(lines(`If-Range: ${at(-99)}`), stored, now), false);
    assert.equal(
      ifRangeHolds(lines(`If-Range: ${at(0)}`), lines(`Last-Modified: ${at(0)}`, `Date: ${at(0)}`), now),
      false,
    );
  });

  it('that lead to a 304 remove the headers that describe a body', () => {
    const kept = notModifiedHeaders(lines('Content-Type: text/plain', 'Content-Location: /x', 'ETag: "a"', 'Vary: A'));
    assert.equal(kept, lines('Content-Location: /x', 'ETag: "a"', 'Vary: A'));
  });
});

describe('ranges', () => {
  it('are parsed according to RFC 9110 14.1.2', () => {
    const part = (range: string): unknown => parseRange(range, 10);
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
  it('are found by name, ignoring case and whitespace around values', () => {
    const headers = lines('Vary:  A ', 'X-Vary: no', 'VARY: b');
    assert.deepEqual(headerValues(headers, 'vary'), ['A', 'b']);
    assert.equal(
      filterHeaders(headers, (name) => name !== 'vary'),
      lines('X-Vary: no'),
    );
  });

  it('of a 304 replace the stored ones, except those that describe the body', () => {
    const updated = updatedHeaders(
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

  it('ignore the order of arguments, but not the order of the values of one argument', () => {
    assert.equal(keys.key({ ...address, query: 'a=1&b=2&a=0' }), keys.key(address));
    assert.notEqual(keys.key({ ...address, query: 'a=0&b=2&a=1' }), keys.key(address));
  });

  it('contain only the configured arguments, whether percent-encoded or not', () => {
    const some = new AddressKeys(policy({ queryArguments: new Set(['a']) }));
    assert.equal(some.key({ ...address, query: 'a=1&c=3' }), some.key({ ...address, query: 'a=1' }));
    assert.notEqual(some.key({ ...address, query: '%61=1' }), some.key({ ...address, query: '' }));
  });

  it('ignore case if configured', () => {
    const caseless = new AddressKeys(policy({ ignoreCase: true }));
    assert.equal(caseless.key({ ...address, path: '/X' }), caseless.key(address));
  });

  it('of variants contain the partition, the identity and the headers', () => {
    const target = { key: 'k', partition: 'p', identity: 'i', address };
    const key = (headers: Readonly<Record<string, readonly string[]>>, identity = 'i', partition = 'p') =>
      variantKey({ ...target, partition }, identity, 'g', ['a', 'b'], (name) => headers[name] ?? []);
    const different = [
      key({}),
      key({ a: [''] }),
      key({ a: ['1'] }),
      key({ b: ['1'] }),
      key({ a: ['1', '2'] }),
      key({ a: ['1'] }, 'other'),
      key({ a: ['1'] }, 'i', 'other'),
    ];
    assert.equal(new Set(different).size, different.length);
    assert.equal(key({ a: ['1', '2'] }), key({ a: ['1 ,\t2'] }));
  });

  it('have a URL that purges compare with', () => {
    assert.equal(urlOf({ ...address, path: '/a\nb\xff' }), 'http://a.example/a%0Ab%FF?b=2&a=1&a=0');
  });
});

describe('content types', () => {
  const matcher = (types: readonly string[]) => policy({}, { content_type: types }).acceptsContentType;

  it('must have the same parameters', () => {
    const json = matcher(['application/json']);
    assert.equal(json('Application/JSON'), true);
    assert.equal(json('application/json; charset=utf-8'), false);
    assert.equal(json(null), false);
    assert.equal(matcher(['application/json; charset=utf-8'])('application/json;charset=UTF-8'), true);
  });

  it('match wildcards with any parameters', () => {
    assert.equal(matcher(['text/*'])('text/html; charset=utf-8'), true);
    assert.equal(matcher(['text/*'])('application/json'), false);
    assert.equal(matcher(['*/*'])(null), true);
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
