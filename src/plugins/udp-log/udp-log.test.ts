import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import udpLog from './index.ts';

test('refuses an invalid address and names the field', async () => {
  const { check } = testPlugin(udpLog);
  const cases: [Record<string, unknown>, string][] = [
    [{ port: 1 }, 'config.host: required field missing'],
    [{ host: 'a', port: 0 }, 'config.port: value should be between 1 and 65535'],
    [{ host: 'a' }, 'config.port: required field missing'],
    [{ host: 'a:5', port: 1 }, 'config.host: must not have a port'],
    [{ host: 'http://a', port: 1 }, 'config.host: must not have a port'],
  ];
  for (const [config, problem] of cases) {
    const checked = await check(config);
    assert.ok(!checked.ok);
    assert.equal(checked.message, `schema violation (${problem})`);
  }
  assert.ok((await check({ host: '::1', port: 514, timeout: 1 })).ok);
});

test('sends a datagram for each request and stream, and counts records that are too large', async () => {
  const receiver = createSocket('udp4');
  receiver.bind(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address();
  const { request, stream, drain, dispose, counts } = testPlugin(udpLog, { config: { host: '127.0.0.1', port } });
  const next = async (): Promise<string> => String((await once(receiver, 'message'))[0]);
  await request({ path: '/a?apikey=hidden', headers: { Authorization: 'Bearer hidden' } });
  const text = await next();
  assert.doesNotMatch(text, /hidden|[\r\n]/);
  assert.equal(JSON.parse(text).request.headers.authorization, 'REDACTED');
  const long = {
    path: '/b',
    headers: { 'X-Long': Array.from({ length: 12 }, () => '\x01"'.replace('\x01', '\\').repeat(3_000)) },
  };
  assert.equal((await request(long)).response.status, 200);
  assert.equal(counts.get('udp-log.datagrams_too_large'), 1);
  await stream({ received: 7 });
  assert.equal(JSON.parse(await next()).session.received, 7);
  await drain();
  await dispose();
  receiver.close();
});
