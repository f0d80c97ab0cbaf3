import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { memoryConnection } from './memory-socket.ts';

function connection() {
  return memoryConnection({ address: '10.0.0.1', port: 1 }, { address: '10.0.0.2', port: 2 });
}

test('bytes arrive in order and in a later turn, both ways, with the end', async () => {
  const { client, server } = connection();
  let text = '';
  server.on('data', (data: Buffer) => {
    text += data.toString();
    server.write(data.toString().toUpperCase());
  });
  client.write('one ');
  client.write('two');
  assert.equal(text, '', 'nothing arrives during `write`');
  let back = '';
  client.on('data', (data: Buffer) => {
    back += data.toString();
  });
  client.end();
  await once(server, 'end');
  assert.equal(text, 'one two');
  server.end();
  await Promise.all([once(client, 'close'), once(server, 'close')]);
  assert.equal(back, 'ONE TWO');
  assert.deepEqual([client.remoteAddress, client.remotePort, server.remoteAddress], ['10.0.0.2', 2, '10.0.0.1']);
});

test('a buffer may be used again as soon as the write is done', async () => {
  const { client, server } = connection();
  const buffer = Buffer.from('first');
  client.write(buffer, () => void buffer.fill('x'));
  const [data] = await once(server, 'data');
  assert.equal(String(data), 'first');
});

test('a reader that pauses stops the writer', async () => {
  const { client, server } = connection();
  server.pause();
  const piece = Buffer.alloc(65_536);
  let written = 0;
  while (client.write(piece)) written++;
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  assert.ok(client.writableLength > 0, 'what the connection does not hold is not written');
  assert.ok(written < 10);
  let received = 0;
  server.on('data', (data: Buffer) => {
    received += data.byteLength;
  });
  server.resume();
  client.end();
  await once(server, 'end');
  assert.equal(received, piece.byteLength * (written + 1));
});

test('a reset follows what was sent, and is an error; destroying is an orderly end', async () => {
  const reset = connection();
  const seen: string[] = [];
  reset.server.on('data', (data: Buffer) => void seen.push(data.toString()));
  reset.client.write('last words');
  reset.client.resetAndDestroy();
  const [error] = await once(reset.server, 'error');
  assert.equal((error as NodeJS.ErrnoException).code, 'ECONNRESET');
  assert.deepEqual(seen, ['last words']);

  const ended = connection();
  ended.server.resume();
  ended.client.destroy();
  await once(ended.server, 'end');
  ended.server.write('to nobody');
  const [late] = await once(ended.server, 'error');
  assert.equal((late as NodeJS.ErrnoException).code, 'ECONNRESET');
});

test('each end has its events where it belongs', async () => {
  let entered = 0;
  const enter = (work: () => void): void => {
    entered++;
    work();
  };
  const { client, server } = memoryConnection({ address: 'a', port: 1 }, { address: 'b', port: 2, enter });
  client.write('x');
  await once(server, 'data');
  assert.ok(entered > 0);
});
