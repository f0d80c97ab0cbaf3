import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { HeaderList } from '../../shared/http2/hpack/header-list.ts';
import { HpackDecoder } from '../../shared/http2/hpack/hpack-decoder.ts';
import { malformed } from '../../shared/http2/request-fields.ts';
import { ParsedRequest } from '../http1/parsed-request.ts';
import { parseStreamHead as parseList } from './downstream-head.ts';

const limits = { maxHeadSize: 8192, maxHeaderCount: 20 };
const get = [':method', 'GET', ':scheme', 'https', ':authority', 'api.example', ':path', '/a?b=c'];

/** The fields as they come out of a header block: literals that are not indexed and not coded (RFC 7541 6.2.2). */
function parseStreamHead(
  fields: readonly string[],
  endStream: boolean,
  bounds: typeof limits,
): ReturnType<typeof parseList> {
  const block = fields.flatMap((text, at) => {
    const bytes = [...Buffer.from(text, 'latin1')];
    const left = bytes.length - 127;
    const length = left < 0 ? [bytes.length] : left < 128 ? [127, left] : [127, (left & 127) | 128, left >> 7];
    return [...(at % 2 === 0 ? [0] : []), ...length, ...bytes];
  });
  const list = new HeaderList();
  list.begin(bounds.maxHeadSize * 2, 2 * bounds.maxHeaderCount);
  assert.ok(new HpackDecoder().decode(Uint8Array.from(block), 0, block.length, list));
  return parseList(list, endStream, bounds);
}

function parsed(fields: readonly string[], endStream = true): ParsedRequest {
  const head = parseStreamHead(fields, endStream, limits);
  assert.ok(head instanceof ParsedRequest, `refused: ${(head as ErrorEntry).code}`);
  return head;
}

test('a head contains everything that forwarding needs', () => {
  const head = parsed([...get, 'accept', '*/*', 'x-real-ip', '1.2.3.4', 'te', 'trailers', 'via', '2 edge']);
  assert.equal(head.method, 'GET');
  assert.equal(head.httpVersion, '2');
  assert.equal(head.host, 'api.example');
  assert.equal(head.target, '/a?b=c');
  assert.equal(head.rawPath, '/a');
  assert.equal(head.query, 'b=c');
  assert.equal(head.trailers, true);
  assert.equal(head.via, '2 edge');
  assert.equal(head.bodyLength, 0);
  assert.equal(head.block, 'host: api.example\r\naccept: */*\r\nx-real-ip: 1.2.3.4\r\nte: trailers\r\nvia: 2 edge\r\n');
  assert.equal(head.forwardBlock, 'accept: */*\r\n');
});

test('forwarded fields of an untrusted client are dropped as with HTTP/1.1', () => {
  const head = parsed([...get, 'x-consumer-id', '1', 'x_consumer_id', '2', 'x-kong-request-id', '3', 'proxy', '4']);
  assert.equal(head.forwardBlock, '');
});

test('pieces of a cookie become one line, empty ones too', () => {
  assert.equal(
    parsed([...get, 'cookie', 'a=1', 'x-a', '1', 'cookie', 'b=2']).forwardBlock,
    'x-a: 1\r\ncookie: a=1; b=2\r\n',
  );
  assert.equal(parsed([...get, 'cookie', '']).forwardBlock, 'cookie: \r\n');
  assert.equal(parsed([...get, 'cookie', '', 'cookie', 'b=2']).forwardBlock, 'cookie: ; b=2\r\n');
});

test('a body has the declared length, or an unknown one', () => {
  assert.equal(parsed(get, false).bodyLength, -1);
  assert.equal(parsed([...get, 'content-length', '5'], false).bodyLength, 5);
  assert.equal(parsed([...get, 'content-length', '0'], true).bodyLength, 0);
  assert.equal(parseStreamHead([...get, 'content-length', '5'], true, limits), errors.badRequest);
});

test('a host may replace :authority, and must not contradict it', () => {
  const bare = get.filter((_, at) => at !== 4 && at !== 5);
  assert.equal(parsed([...bare, 'host', 'other.example']).host, 'other.example');
  assert.equal(parsed([...get, 'host', 'API.example']).host, 'api.example');
  assert.equal(parseStreamHead([...get, 'host', 'other.example'], true, limits), errors.badRequest);
  assert.equal(parseStreamHead(bare, true, limits), errors.badRequest);
});

test('no byte of a field can start a new line', () => {
  for (const field of [
    ['x-a', 'b\r\nx-evil: 1'],
    ['x-a', 'b\r\n\r\nGET / HTTP/1.1'],
    ['x-a', 'b\nc'],
    ['x-a\r\nx-evil', '1'],
    ['x-evil: 1\r\nx-a', '1'],
    ['x-a:', '1'],
    ['x a', '1'],
    ['', '1'],
    ['cookie', 'a\r\nx-evil: 1'],
    ['x-a', 'b\0'],
    ['x-a', ' b'],
    ['X-A', 'b'],
  ]) {
    assert.equal(parseStreamHead([...get, ...field], true, limits), malformed, JSON.stringify(field));
  }
  for (const [path, refused] of [
    ['/ HTTP/1.1\r\nx-evil: 1', malformed],
    ['', malformed],
    ['/a b', errors.badRequest],
    ['a', errors.badRequest],
    ['*', errors.badRequest],
    ['http://a/', errors.badRequest],
  ] as const) {
    const list = [':method', 'GET', ':scheme', 'https', ':authority', 'a', ':path', path];
    assert.equal(parseStreamHead(list, true, limits), refused, JSON.stringify(path));
  }
});

test('connection-specific fields are malformed', () => {
  for (const [name, value] of [
    ['connection', 'x'],
    ['keep-alive', 'x'],
    ['proxy-connection', 'x'],
    ['transfer-encoding', 'chunked'],
    ['upgrade', 'x'],
    ['te', 'gzip'],
  ] as const)
    assert.equal(parseStreamHead([...get, name, value], false, limits), malformed, name);
});

test('pseudo-header fields are known, come first and once', () => {
  for (const list of [
    [...get, ':path', '/b'],
    [...get, 'x-a', 'b', ':protocol', 'websocket'],
    [...get, ':status', '200'],
    [...get, ':protocol', 'websocket'],
    get.slice(2),
    get.slice(0, 6),
    [...get.slice(0, 2), ...get.slice(4)],
  ])
    assert.equal(parseStreamHead(list, true, limits), malformed, list.join(' '));
});

test('an extended CONNECT becomes an upgrade with a key of our own', () => {
  const list = [':method', 'CONNECT', ':protocol', 'websocket', ...get.slice(2), 'sec-websocket-key', 'theirs'];
  const head = parsed(list, false);
  assert.equal(head.method, 'GET');
  assert.equal(head.upgrade, 'websocket');
  assert.equal(head.bodyLength, 0);
  assert.match(head.webSocketKey, /^[A-Za-z0-9+/]{22}==$/);
  assert.equal(parseStreamHead(list, true, limits), errors.badRequest);
  assert.equal(parseStreamHead([...list, 'sec-websocket-version', '8'], false, limits), errors.badRequest);
  assert.equal(parsed([...list, 'sec-websocket-version', '13'], false).upgrade, 'websocket');
});

test('sizes are bounded', () => {
  assert.equal(parseStreamHead([...get, 'x-a', 'b'.repeat(9000)], true, limits), errors.headTooLarge);
  const many = Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? `x-${at}` : 'v'));
  assert.equal(parseStreamHead([...get, ...many], true, limits), errors.headTooLarge);
  const long = [':method', 'GET', ':scheme', 'https', ':authority', 'a', ':path', `/${'a'.repeat(9000)}`];
  assert.equal(parseStreamHead(long, true, limits), errors.uriTooLong);
});
