import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import { errors } from '../../shared/errors.ts';
import { parseRequestHead } from './parse-request.ts';
import { ParsedRequest } from './parsed-request.ts';

function parsed(text: string): ParsedRequest {
  const head = parseRequestHead(text);
  assert.ok(head instanceof ParsedRequest, `refused: ${JSON.stringify(text)}`);
  return head;
}

const lines = (...fields: string[]): string =>
  `GET /a?b=c HTTP/1.1\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n`;

test('reads line, host and lines to forward, and keeps the block complete', () => {
  const head = parsed(lines('Host: Example.com:8000', 'Accept: */*', 'Connection: keep-alive', 'X-A: 1'));
  assert.equal(head.method, 'GET');
  assert.equal(head.rawPath, '/a');
  assert.equal(head.query, 'b=c');
  assert.equal(head.host, 'Example.com:8000');
  assert.equal(head.forwardBlock, 'Accept: */*\r\nX-A: 1\r\n');
  assert.equal(head.block, 'Host: Example.com:8000\r\nAccept: */*\r\nConnection: keep-alive\r\nX-A: 1\r\n');
  assert.equal(head.keepAlive, true);
});

test('distinguishes a lone question mark from no query', () => {
  assert.equal(parsed('GET /a? HTTP/1.1\r\nHost: a\r\n\r\n').hasQuery, true);
  assert.equal(parsed('GET /a HTTP/1.1\r\nHost: a\r\n\r\n').hasQuery, false);
});

test('drops hop-by-hop fields, those that Connection names, and identity headers in both spellings', () => {
  const head = parsed(
    lines(
      'Host: a',
      'Connection: X-Hop, close',
      'X-Hop: 1',
      'Keep-Alive: 5',
      'Proxy-Connection: x',
      'X-Consumer-ID: 1',
      'X_Consumer_Username: root',
      'Proxy: evil',
      'X-Kept: 1',
    ),
  );
  assert.equal(head.forwardBlock, 'X-Kept: 1\r\n');
  assert.equal(head.keepAlive, false);
});

test('joins repeated lists: all lines are one list', () => {
  const head = parsed(
    lines('Host: a', 'X-Forwarded-For: 1.1.1.1', 'Via: 1.0 a', 'X-Forwarded-For: 2.2.2.2', 'Via: 1.1 b'),
  );
  assert.equal(head.forwardedFor, '1.1.1.1, 2.2.2.2');
  assert.equal(head.via, '1.0 a, 1.1 b');
});

test('an absolute target must name the host of Host', () => {
  assert.equal(parsed('GET http://a.com/x?y HTTP/1.1\r\nHost: a.com\r\n\r\n').target, '/x?y');
  assert.equal(parseRequestHead('GET http://b.com/ HTTP/1.1\r\nHost: a.com\r\n\r\n'), errors.badRequest);
});

test('a WebSocket handshake counts only with its Connection option', () => {
  const fields = [
    'Host: a',
    'Upgrade: WebSocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  assert.equal(parsed(lines(...fields, 'Connection: x, Upgrade')).upgrade, 'websocket');
  assert.equal(parsed(lines(...fields)).upgrade, '');
});

const post = (...fields: string[]): string => lines('Host: a', ...fields).replace('GET', 'POST');
for (const [name, text] of [
  ['two lengths', post('Content-Length: 5', 'Content-Length: 5')],
  ['a list of lengths', post('Content-Length: 5, 5')],
  ['an empty length', post('Content-Length:')],
  ['a signed length', post('Content-Length: +5')],
  ['a length with a vertical tab behind', post('Content-Length: 5\x0b')],
  ['a hexadecimal length', post('Content-Length: 0x5')],
  ['a length of 20 digits', post('Content-Length: 12345678901234567890')],
  ['length and chunked', post('Content-Length: 5', 'Transfer-Encoding: chunked')],
  ['chunked and length', post('Transfer-Encoding: chunked', 'Content-Length: 5')],
  ['a length spelt with an underscore', post('Content_Length: 5')],
  ['chunked twice', post('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')],
  ['chunked on HTTP/1.0', 'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
  ['two Hosts', lines('Host: a', 'Host: a')],
  ['an empty Host', lines('Host:')],
  ['a Host with a comma', lines('Host: a,b')],
  ['a Host with a user part', lines('Host: u@a')],
  ['a Host with a path', lines('Host: a/b')],
  ['a Host that ends in NBSP', lines('Host: a\xa0')],
  ['a space before the colon', lines('Host: a', 'X-A : b')],
  ['a folded line', lines('Host: a', 'X-A: b', ' c')],
  ['an empty name', lines('Host: a', ': b')],
  ['a line without a colon', lines('Host: a', 'abc')],
  ['NUL in a value', lines('Host: a', 'X-A: b\0c')],
  ['bare LF', 'GET / HTTP/1.1\nHost: a\r\n\r\n'],
  ['bare CR in a value', lines('Host: a', 'X-A: b\rc')],
  ['two spaces in the request line', 'GET  / HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a tab in the request line', 'GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['HTTP/1.2', 'GET / HTTP/1.2\r\nHost: a\r\n\r\n'],
  ['HTTP/2.0', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n'],
  ['lower-case http', 'GET / http/1.1\r\nHost: a\r\n\r\n'],
  ['no version', 'GET /\r\nHost: a\r\n\r\n'],
  ['an asterisk without OPTIONS', 'GET * HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a target without a slash', 'GET a HTTP/1.1\r\nHost: a\r\n\r\n'],
] as const) {
  test(`refuses ${name}`, () => assert.equal(parseRequestHead(text), errors.badRequest));
}

test('an unknown transfer coding is 501, CONNECT and TRACE are 405, a foreign expectation is 417', () => {
  assert.equal(parseRequestHead(post('Transfer-Encoding: gzip, chunked')), errors.transferEncoding);
  assert.equal(parseRequestHead(post('Transfer-Encoding: xchunked')), errors.transferEncoding);
  assert.equal(parseRequestHead('CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n'), errors.methodNotAllowed);
  assert.equal(parseRequestHead('TRACE / HTTP/1.1\r\nHost: a\r\n\r\n'), errors.methodNotAllowed);
  assert.equal(parseRequestHead(post('Content-Length: 1', 'Expect: gold')), errors.expectationFailed);
});

test('more header lines than allowed are refused', () => {
  const many = lines('Host: a', ...Array.from({ length: 1001 }, (_, at) => `X-${at}: 1`));
  assert.equal(parseRequestHead(many), errors.headTooLarge);
});

test('a long run of blanks is refused quickly', () => {
  const started = cpuTime();
  assert.equal(parseRequestHead(lines('Host: a', `X-A:${' '.repeat(30_000)}\x01`)), errors.badRequest);
  assert.ok(cpuTime() - started < 100);
});

test('a head that lists very many hop-by-hop names is parsed quickly', () => {
  const named = 'b,'.repeat(12_000);
  const text = `GET / HTTP/1.1\r\nHost: a\r\nConnection: ${named}x-one\r\nX-One: 1\r\n${'a:\r\n'.repeat(900)}\r\n`;
  const started = cpuTime();
  const head = parseRequestHead(text);
  assert.ok(cpuTime() - started < 100);
  assert.ok(head instanceof ParsedRequest);
  assert.equal(head.forwardBlock, 'a:\r\n'.repeat(900));
});

test('a copy of a head has all its fields', () => {
  const head = new ParsedRequest();
  for (const [at, [name, value]] of Object.entries(head).entries()) {
    Object.assign(head, { [name]: typeof value === 'string' ? `text ${at}` : typeof value === 'number' ? at : !value });
  }
  assert.deepEqual(head.copy(), head);
  assert.notEqual(head.copy(), head);
});

test('fields that request an explanation are removed from all lines; those with an underscore are ignored too', () => {
  const head = parsed(
    lines(
      'Host: a',
      'X-Sluicegate-Debug-Token: s3cret',
      'x-kong-request-debug-token:  other ',
      'X_Sluicegate_Debug_Token: third',
      'X-Sluicegate_Explain: 1',
      'X-Sluicegate-Explain: dry',
      'X-Kong-Request-Debug: *',
      'X-Kong-Request-Debug-Log: true',
      'X-Kong-Request-Debugs: stays',
    ),
  );
  assert.equal(head.block, 'Host: a\r\nX-Kong-Request-Debugs: stays\r\n');
  assert.equal(head.forwardBlock, 'X-Kong-Request-Debugs: stays\r\n');
  assert.deepEqual(head.debug, { explain: ['dry'], requestDebug: ['*'], log: ['true'], tokens: ['s3cret', 'other'] });
  assert.equal(parsed(lines('Host: a')).debug, null);
});
