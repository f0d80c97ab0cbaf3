import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpError } from '../http/http-error.ts';
import { parseQuery } from '../http/query.ts';
import { encodeCursor } from './cursor-token.ts';
import { type ListRequest, readListRequest } from './list-request.ts';

const id = '6ba7b810-9dad-41d1-80b4-00c04fd430c8';
const position = { createdAt: 1_700_000_000_123, id };
const forwards = encodeCursor({ position, direction: 'asc' });
const backwards = encodeCursor({ position, direction: 'desc' });

const read = (query: string): ListRequest => readListRequest(parseQuery(`/services?${query}`));

function refusal(query: string): string {
  try {
    read(query);
  } catch (error) {
    assert.ok(error instanceof HttpError);
    assert.equal(error.status, 400);
    return error.message;
  }
  assert.fail(`${query} was accepted`);
}

test('the parameters determine the style', () => {
  const style = (query: string): string => read(query).style;
  assert.equal(style(''), 'kong');
  assert.equal(style('size=5'), 'kong');
  assert.equal(style(`offset=${forwards}`), 'kong');
  assert.equal(style('limit=5'), 'cursor');
  assert.equal(style(`cursor=${forwards}`), 'cursor');
  assert.equal(style(`cursor=${backwards}&before=${id}`), 'cursor');
  assert.equal(style('page=2'), 'page');
  assert.equal(style('page=2&size=5'), 'page');
  assert.equal(style('before=2025-01-01&limit=5'), 'time');
  assert.equal(style('sort_by=name&name=x'), 'kong');
});

test('a page has 100 items by default', () => {
  assert.equal(read('').limit, 100);
  assert.equal(read('size=1000').limit, 1000);
  assert.equal(read('page=3&limit=7').limit, 7);
});

test('the error for a bad size or limit names it and the reason', () => {
  for (const name of ['size', 'limit']) {
    for (const value of ['abc', '', '%20', '1x']) {
      assert.equal(refusal(`${name}=${value}`), `${name} must be a number`, value);
    }
    for (const value of ['0', '1001', '1.5', '-1', '1e2', '99999999999999999999']) {
      assert.equal(refusal(`${name}=${value}`), `${name} must be an integer between 1 and 1000`, value);
    }
    assert.equal(refusal(`${name}=1&${name}=1`), `${name} must be a number`);
  }
});

test('the error for a bad page has the reason', () => {
  for (const value of ['0', '-1', '1.5', 'x', '', '2147483648', '99999999999']) {
    assert.match(refusal(`page=${value}`), /^invalid option \(page: must be an integer between 1 and 2147483647\)$/);
  }
});

test('the error for a bad cursor or offset has the reason', () => {
  assert.equal(refusal('offset=x'), "'x' is not a valid offset: bad base64 encoding");
  assert.equal(refusal('cursor=bm90'), "'bm90' is not a valid cursor: bad json encoding");
  assert.equal(refusal('cursor=W10'), "'W10' is not a valid cursor: unexpected content");
});

test('parameters that contradict each other are named', () => {
  const conflicts: readonly (readonly [string, string, string])[] = [
    ['size=1&limit=1', 'limit', 'size'],
    [`page=1&cursor=${forwards}`, 'cursor', 'page'],
    [`page=1&offset=${forwards}`, 'offset', 'page'],
    [`cursor=${forwards}&offset=${forwards}`, 'cursor', 'offset'],
    ['page=1&before=2025-01-01', 'before', 'page'],
    [`offset=${forwards}&before=2025-01-01`, 'before', 'offset'],
  ];
  for (const [query, first, second] of conflicts) {
    const message = refusal(query);
    assert.ok(message.includes(`${first}: cannot be used together with '${second}'`), message);
    assert.ok(message.includes(`${second}: cannot be used together with '${first}'`), message);
  }
  assert.match(refusal(`before=2025-01-01&cursor=${forwards}`), /cursor: belongs to a walk forwards/);
  assert.match(refusal('page=1&page=2'), /page: must be given once/);
});

test('before accepts timestamps in all common formats', () => {
  const instant = (text: string): unknown => {
    const request = read(`before=${text}`);
    assert.equal(request.style, 'time');
    return 'before' in request && request.before.kind === 'instant' ? request.before.milliseconds : null;
  };
  const noon = Date.UTC(2025, 0, 2, 12, 0, 0);
  assert.equal(instant('2025-01-02'), Date.UTC(2025, 0, 2));
  for (const text of [
    '2025-01-02T12:00:00Z',
    '2025-01-02t12:00:00.000z',
    '2025-01-02T12:00Z',
    '2025-01-02T12:00:00',
    '2025-01-02%2012:00:00Z',
    '2025-01-02T13:00:00%2B01:00',
    '2025-01-02T13:00:00+01:00',
    '2025-01-02T11:00:00-0100',
  ]) {
    assert.equal(instant(text), noon, text);
  }
  assert.equal(instant('2025-01-02T12:00:00.5Z'), noon + 500);
  assert.equal(instant('2025-01-02T12:00:00.000001Z'), noon + 1);
});

test('before accepts the id of an item and a cursor of paging back in time', () => {
  assert.deepEqual(read(`before=${id.toUpperCase()}`), { style: 'time', limit: 100, before: { kind: 'item', id } });
  assert.deepEqual(read(`before=${backwards}`), {
    style: 'time',
    limit: 100,
    before: { kind: 'cursor', cursor: { position, direction: 'desc' } },
  });
});

test('anything else in before is refused', () => {
  for (const text of [
    '',
    'yesterday',
    '1700000000',
    '2025',
    '2025-02-30',
    '2025-13-01',
    '2025-01-01T25:00Z',
    forwards,
  ]) {
    assert.equal(
      refusal(`before=${text}`),
      'invalid option (before: must be an ISO 8601 timestamp or the id of an item)',
      text,
    );
  }
});
