import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { http2Settings } from '../support/http2-rig.ts';
import { answer, byName } from '../support/raw-backend.ts';
import { exchangeOne, openClient, type RawClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

const kilobyte = 1024;
const form = 'Content-Type: application/x-www-form-urlencoded\r\n';

/** Case 41: bodies that plugins collect and that never end. */
describe('bodies that are collected and never end', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      settings: {
        ...http2Settings(),
        trustedIps: ['127.0.0.1'],
        bodyMemory: 4096 * kilobyte,
        bodyMemoryPerClient: 1024 * kilobyte,
      },
    });
    await rig.write('PUT', '/services/backend/routes/keys', { paths: ['/keys'], strip_path: false });
    await rig.write('POST', '/routes/keys/plugins', { name: 'key-auth', config: { key_in_body: true } });
    await rig.write('PUT', '/consumers/c', {});
    await rig.write('POST', '/consumers/c/key-auth', { key: 'secret-of-c' });
  });
  after(() => rig.close());

  const ask = (client: string, size: number): Promise<{ status: number }> =>
    exchangeOne(
      rig.port,
      `POST /keys HTTP/1.1\r\nHost: a\r\nX-Real-IP: ${client}\r\n${form}Content-Length: ${size}\r\n\r\n${'apikey=secret-of-c&a='.padEnd(size, 'x')}`,
    );
  const log = (): Promise<string> => readFile(join(rig.gateway.prefix, 'error.log'), 'utf8');

  /** Sends all but the last byte of a body. Returns when the gateway refuses it, or everything is sent. */
  async function holdBack(client: string, size: number): Promise<RawClient> {
    const connection = await openClient(rig.port);
    connection.write(
      `POST /keys HTTP/1.1\r\nHost: a\r\nX-Real-IP: ${client}\r\n${form}Content-Length: ${size}\r\n\r\n${'a='.padEnd(size - 1, 'x')}`,
    );
    return connection;
  }

  it('occupy a bounded share of memory, and others are served meanwhile', async () => {
    const size = 200 * kilobyte;
    const held = await Promise.all(Array.from({ length: 20 }, () => holdBack('203.0.113.1', size)));
    // At most 5 fit. The others are refused; when 15 answers have arrived, the rest are those that stay.
    const refused = held.map((client) =>
      client.readResponse('POST', 10_000).then((response) => ({ client, response })),
    );
    let count = 0;
    const enough = Promise.withResolvers<void>();
    for (const one of refused) {
      one.then(
        ({ response }) => {
          assert.equal(response.status, 503);
          assert.equal(response.get('retry-after'), '1');
          if (++count === 15) enough.resolve();
        },
        () => {},
      );
    }
    await enough.promise;
    assert.equal((await ask('203.0.113.1', size)).status, 503);
    assert.equal((await ask('203.0.113.2', size)).status, 200);
    assert.equal((await ask('::ffff:203.0.113.1', size)).status, 503, 'the same client in another spelling');
    // A plain request is not delayed by bodies that others hold.
    const plain = await exchangeOne(
      rig.port,
      'POST / HTTP/1.1\r\nHost: a\r\nX-Real-IP: 203.0.113.1\r\nContent-Length: 2\r\n\r\nhi',
    );
    assert.equal(plain.status, 200);
    const lines = (await log()).split('\n').filter((line) => line.includes('body memory is used up'));
    assert.equal(lines.length, 1, lines.join('\n'));
    assert.match(lines[0] as string, /203\.0\.113\.1/);

    for (const client of held) client.close();
    for (let status = 503; status !== 200; ) ({ status } = await ask('203.0.113.1', size));
    for (const begun = Date.now(); !(await log()).includes('body memory is available again'); ) {
      assert.ok(Date.now() - begun < 20_000, 'the end was not logged');
      await delay(100);
    }
  });

  it('leave room for one more client when many send them', async () => {
    const held = await Promise.all(
      Array.from({ length: 64 }, (_, index) => holdBack(`198.51.100.${index}`, 900 * kilobyte)),
    );
    for (let sent = 0; sent < 20; sent++) assert.equal((await ask(`192.0.2.${sent}`, 16 * kilobyte)).status, 200);
    for (const client of held) client.close();
  });

  it('count for one client when they come from one IPv6 network', async () => {
    const held = await Promise.all(
      Array.from({ length: 12 }, (_, index) => holdBack(`2001:db8::${index + 1}`, 200 * kilobyte)),
    );
    const first = await Promise.any(held.map((client) => client.readResponse('POST', 10_000)));
    assert.equal(first.status, 503);
    for (const client of held) client.close();
  });

  it('count for one client on streams of one HTTP/2 connection', async () => {
    const session = connect(`http://127.0.0.1:${rig.port}`, { settings: { initialWindowSize: 2 ** 20 } });
    const answers = Array.from({ length: 12 }, async () => {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/keys',
        ':authority': 'a',
        'x-real-ip': '203.0.113.9',
        'content-type': 'application/x-www-form-urlencoded',
      });
      stream.on('error', () => {});
      stream.write('a='.padEnd(200 * kilobyte, 'x'));
      const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
      return headers[':status'];
    });
    for (const pending of answers) pending.catch(() => {});
    assert.equal(await Promise.any(answers), 503);
    assert.equal((await ask('203.0.113.10', 200 * kilobyte)).status, 200);
    session.destroy();
  });
});

describe('answers that are collected and not read', () => {
  it('occupy a bounded share of memory, and others are served meanwhile', async () => {
    const size = 7500 * kilobyte;
    await using rig = await startRig({
      settings: { trustedIps: ['127.0.0.1'], bodyMemory: 65_536 * kilobyte, bodyMemoryPerClient: 32_768 * kilobyte },
      script: byName({
        large: (connection) =>
          connection.write(
            answer(JSON.stringify({ a: 'x'.repeat(size) })).replace('\r\n', '\r\nContent-Type: application/json\r\n'),
          ),
      }),
    });
    await rig.write('POST', '/plugins', {
      name: 'response-transformer',
      config: { add: { json: ['b:1'] }, max_body_size: 8192 * kilobyte },
    });
    const head = (client: string) => `GET /large HTTP/1.1\r\nHost: a\r\nX-Real-IP: ${client}\r\n`;
    const clients: RawClient[] = [];
    // The socket's buffers hold what fits, and the gateway holds the rest.
    for (;;) {
      assert.ok(clients.length < 40, 'nothing was refused');
      const response = await exchangeOne(rig.port, `${head('203.0.113.1')}Connection: close\r\n\r\n`);
      if (response.status === 503) {
        assert.equal(response.get('retry-after'), '1');
        break;
      }
      assert.equal(response.status, 200);
      for (let more = 0; more < 5; more++) {
        const client = await openClient(rig.port);
        client.reader.pause();
        client.write(`${head('203.0.113.1')}\r\n`);
        clients.push(client);
      }
    }
    assert.equal((await exchangeOne(rig.port, `${head('203.0.113.2')}\r\n`)).status, 200);
    const log = await readFile(join(rig.gateway.prefix, 'error.log'), 'utf8');
    assert.doesNotMatch(log, /an attempt at a backend failed/, 'it is no fault of the backend');
    for (const client of clients) client.close();
    for (let status = 503; status !== 200; ) ({ status } = await exchangeOne(rig.port, `${head('203.0.113.1')}\r\n`));
  });
});

describe('a body that arrives too slowly', { concurrency: 4 }, () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ settings: { ...http2Settings(), clientBodyTimeout: 1000, clientBodyMinRate: 1000 } });
    await rig.write('PUT', '/services/backend/routes/keys', { paths: ['/keys'] });
    await rig.write('POST', '/routes/keys/plugins', { name: 'key-auth', config: { key_in_body: true } });
  });
  after(() => rig.close());

  for (const path of ['/', '/keys']) {
    for (const [framing, piece] of [
      ['Content-Length: 100000', 'x'],
      ['Transfer-Encoding: chunked', '1\r\nx\r\n'],
    ] as const) {
      it(`ends with 408 on ${path} with ${framing}`, async () => {
        using client = await openClient(rig.port);
        client.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${form}${framing}\r\n\r\n`);
        const dripping = drip(client, piece);
        assert.equal((await client.readResponse('POST', 10_000)).status, 408);
        await dripping;
      });
    }
  }

  it('ends with 408 on a stream of HTTP/2', async () => {
    const session = connect(`http://127.0.0.1:${rig.port}`);
    const stream = session.request({
      ':method': 'POST',
      ':path': '/keys',
      ':authority': 'a',
      'content-type': 'application/x-www-form-urlencoded',
    });
    const timer = setInterval(() => stream.write('x'), 50);
    try {
      const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
      assert.equal(headers[':status'], 408);
    } finally {
      clearInterval(timer);
      session.destroy();
    }
  });

  it('is served at the minimum rate', async () => {
    using client = await openClient(rig.port);
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n');
    for (let sent = 0; sent < 5000; sent += 200) {
      client.write('x'.repeat(200));
      await delay(100);
    }
    assert.equal((await client.readResponse('POST')).status, 200);
  });
});

async function drip(client: RawClient, piece: string): Promise<void> {
  while (client.reader.ended === null && client.socket.writable) {
    client.write(piece);
    await delay(50);
  }
}
