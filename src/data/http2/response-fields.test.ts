import assert from 'node:assert/strict';
import { test } from 'node:test';
import { responseFields, trailerFields } from './response-fields.ts';

test('lines become fields: lower case, without whitespace, repeated ones in order', () => {
  assert.deepEqual(
    responseFields(200, 'Content-Type:  text/plain \r\nSet-Cookie: a=1\r\nset-cookie: b=2; Path=/\r\n'),
    [':status', '200', 'content-type', 'text/plain', 'set-cookie', 'a=1', 'set-cookie', 'b=2; Path=/'],
  );
});

test('connection-specific fields and lengths are dropped', () => {
  const block =
    'Connection: Upgrade\r\nUpgrade: TLS/1.2\r\nKeep-Alive: timeout=5\r\nProxy-Connection: x\r\nTransfer-Encoding: chunked\r\n' +
    'TE: gzip\r\nHTTP2-Settings: x\r\nContent-Length: 5\r\nSec-WebSocket-Accept: x\r\nX-Kept: 1\r\n';
  assert.deepEqual(responseFields(426, block), [':status', '426', 'x-kept', '1']);
});

test('names above the size of the cache are still converted', () => {
  for (let at = 0; at < 1500; at++) {
    assert.deepEqual(responseFields(200, `X-Name-${at}: v\r\n`).slice(2), [`x-name-${at}`, 'v']);
  }
  assert.deepEqual(responseFields(200, 'CONNECTION: close\r\nX-Late: 1\r\n').slice(2), ['x-late', '1']);
});

test('trailers are an object with lists', () => {
  assert.deepEqual(
    { ...trailerFields('grpc-status: 0\r\nx-a: 1\r\nX-A: 2\r\n') },
    { 'grpc-status': ['0'], 'x-a': ['1', '2'] },
  );
});
