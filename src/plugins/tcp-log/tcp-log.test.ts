import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import tcpLog from './index.ts';

test('refuses an invalid address or queue and names the field', async () => {
  const { check } = testPlugin(tcpLog);
  const cases: [Record<string, unknown>, string][] = [
    [{ port: 1 }, 'config.host: required field missing'],
    [{ host: 'a', port: 0 }, 'config.port: value should be between 1 and 65535'],
    [{ host: 'a b', port: 1 }, 'config.host: invalid value: a b'],
    [{ host: 'a', port: 1, tls: 'yes' }, 'config.tls: expected a boolean'],
    [{ host: 'a', port: 1, tls_sni: '*.a' }, 'config.tls_sni: invalid value: *.a'],
  ];
  for (const [config, problem] of cases) {
    const checked = await check(config);
    assert.ok(!checked.ok);
    assert.equal(checked.message, `schema violation (${problem})`);
  }
  const checked = await check({ host: '::1', port: 514, queue: { max_entries: 0 } });
  assert.ok(!checked.ok && checked.message.includes('max_entries'));
  assert.ok((await check({ host: '::1', port: 514 })).ok);
});

test('sends requests and streams as lines over one connection, and waiting lines when the node stops', async () => {
  let received = '';
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { request, stream, drain, dispose, counts } = testPlugin(tcpLog, {
    config: { host: '127.0.0.1', port, queue: { max_coalescing_delay: 3600 } },
  });
  await request({ path: '/a?apikey=hidden', headers: { Authorization: 'Bearer hidden', 'X-Odd': 'a\x85"}' } });
  await stream({ received: 7 });
  await drain();
  assert.equal(counts.get('tcp-log.entries_sent'), 2);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  await dispose();
  await closed;
  assert.equal(connections, 1);
  assert.match(received, /^[^\r\n]+\n[^\r\n]+\n$/);
  assert.doesNotMatch(received, /hidden/);
  const [first, second] = received
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(first.request.headers['x-odd'], 'a\x85"}');
  assert.equal(second.session.received, 7);
});
