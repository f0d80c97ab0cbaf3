import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { replyFrom } from './index.ts';

test('status, headers and body are those of the response', async () => {
  const headers = new Headers({ 'X-A': '1' });
  headers.append('Set-Cookie', 'a=1');
  headers.append('Set-Cookie', 'b=2, c');
  const reply = await replyFrom(new Response('héllo', { status: 201, statusText: 'x', headers }));
  assert.equal(Buffer.from(reply.body ?? '').toString(), 'héllo');
  assert.equal(reply.status, 201);
  assert.deepEqual(reply.headers, [
    ['content-type', 'text/plain;charset=UTF-8'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2, c'],
    ['x-a', '1'],
  ]);
  assert.equal((await replyFrom(new Response(null, { status: 204 }))).body, null);
});

test('bytes of a value are passed on as the text that they are', async () => {
  const utf8 = Buffer.from('Zoë').toString('latin1');
  const { headers } = await replyFrom(new Response(null, { headers: { a: utf8, b: 'Zo\xeb' } }));
  assert.deepEqual(headers, [
    ['a', 'Zoë'],
    ['b', 'Zo\xeb'],
  ]);
});

test('a body that is too large, or too slow, is cancelled and becomes an error', async () => {
  const cancelled: unknown[] = [];
  const endless = (pause: number) =>
    new ReadableStream({
      pull: async (controller) => {
        if (pause > 0) await new Promise(() => undefined);
        controller.enqueue(new Uint8Array(1000));
      },
      cancel: (reason) => void cancelled.push(reason),
    });
  assert.equal((await replyFrom(new Response(endless(0)), { maxBytes: 5000 })).status, 502);
  assert.equal((await replyFrom(new Response(endless(1)), { timeout: 5 })).status, 504);
  assert.deepEqual(cancelled, ['too large', 'too slow']);
});

test('what is no response, or was read, is a bug', async () => {
  await assert.rejects(replyFrom(Response.error()), TypeError);
  const read = new Response('x');
  await read.text();
  await assert.rejects(replyFrom(read), TypeError);
  const failing = new ReadableStream({ pull: () => Promise.reject(new RangeError('broken')) });
  await assert.rejects(replyFrom(new Response(failing)), RangeError);
  const texts = new ReadableStream({ start: (controller) => controller.enqueue('text') });
  await assert.rejects(replyFrom(new Response(texts)), TypeError);
});

test('a response of fetch is decoded, and does not claim to be encoded', async (t) => {
  const server = createServer((_, answer) => {
    answer.setHeader('Content-Encoding', 'gzip');
    answer.end(gzipSync('decoded'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close().closeAllConnections());
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const reply = await replyFrom(response);
  assert.equal(Buffer.from(reply.body ?? '').toString(), 'decoded');
  assert.equal(
    reply.headers.some(([name]) => name === 'content-encoding'),
    false,
  );
  const own = await replyFrom(new Response(gzipSync('x'), { headers: { 'Content-Encoding': 'gzip' } }));
  assert.deepEqual(own.headers, [['content-encoding', 'gzip']]);
});
