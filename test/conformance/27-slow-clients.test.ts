import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { answer, byName } from '../support/raw-backend.ts';
import { exchangeOne, openClient, type RawClient } from '../support/raw-client.ts';
import { type Rig, residentMemory, startRig } from '../support/rig.ts';

/** Case 27: slow clients occupy few resources. */
describe('slow clients', { concurrency: 8 }, () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      settings: { clientHeaderTimeout: 600, clientBodyTimeout: 600, sendTimeout: 600, keepaliveTimeout: 600 },
      script: byName({
        plain: (connection) => connection.write(answer('plain')),
        large: (connection) => connection.write(answer('x'.repeat(30_000_000))),
      }),
    });
  });
  after(() => rig.close());

  it('are closed when they send nothing', async () => {
    using client = await openClient(rig.port);
    const { text } = await client.readToEnd();
    assert.ok(text === '' || text.startsWith('HTTP/1.1 408 '));
  });

  it('are closed when their head trickles forever', async () => {
    using client = await openClient(rig.port);
    client.write('GET /plain HTTP/1.1\r\nHost: a\r\n');
    const dripping = drip(client, 'X-Drip: 1\r\n', 100);
    const { text } = await client.readToEnd();
    assert.ok(text === '' || text.startsWith('HTTP/1.1 408 '), text);
    await dripping;
  });

  it('are refused when they never send their body', async () => {
    using client = await openClient(rig.port);
    client.write('POST /plain HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello');
    const { text } = await client.readToEnd();
    assert.ok(text === '' || text.startsWith('HTTP/1.1 408 '), text);
  });

  it('are closed silently when idle after an answer', async () => {
    using client = await openClient(rig.port);
    client.write('GET /plain HTTP/1.1\r\nHost: a\r\n\r\n');
    assert.equal((await client.readResponse()).body, 'plain');
    assert.equal((await client.readToEnd()).text, '');
  });

  it('are closed when they do not read their answer, which is not kept in memory', async () => {
    const memoryBefore = residentMemory();
    const clients = await Promise.all(Array.from({ length: 10 }, () => openClient(rig.port)));
    for (const [index, client] of clients.entries()) {
      client.reader.pause();
      client.write(`GET /large?${index} HTTP/1.1\r\nHost: a\r\n\r\n`);
    }
    // An abandoned client no longer occupies its backend.
    for (const index of clients.keys()) {
      const carried = await rig.backend.request((request) => request.target === `/large?${index}`);
      await carried.connection.closed;
    }
    const grown = residentMemory() - memoryBefore;
    for (const client of clients) client.reader.resume();
    const ends = await Promise.all(clients.map((client) => client.readToEnd()));
    for (const { text } of ends) assert.ok(text.length < 30_000_000, `${text.length} bytes`);
    // The scripted backend holds 30 MB for each in this very process; a gateway that buffered would add as much again.
    assert.ok(grown < 600 * 1024 * 1024, `grew by ${grown} bytes`);
  });
});

describe('a crowd of silent clients', () => {
  it('does not delay other clients', async () => {
    await using rig = await startRig();
    const crowd = await Promise.all(
      Array.from({ length: 1000 }, async (_, index) => {
        const client = await openClient(rig.port);
        if (index % 2 === 0) client.write('GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ');
        return client;
      }),
    );
    try {
      const times: number[] = [];
      for (let count = 0; count < 50; count++) {
        const begun = performance.now();
        const response = await exchangeOne(rig.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
        times.push(performance.now() - begun);
        assert.equal(response.status, 200);
      }
      times.sort((a, b) => a - b);
      assert.ok((times[25] as number) < 100, `median ${times[25]} ms`);
    } finally {
      for (const client of crowd) client.close();
    }
  });
});

async function drip(client: RawClient, bytes: string, gap: number): Promise<void> {
  while (client.reader.ended === null && client.socket.writable) {
    client.write(bytes);
    await delay(gap);
  }
}
