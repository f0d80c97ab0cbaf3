import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { answer, byName } from '../support/raw-backend.ts';
import { exchangeOne, openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 29: an unresponsive backend fails only its own requests, in bounded time. */
describe('unresponsive backends', { concurrency: 8 }, () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      service: { read_timeout: 500, write_timeout: 500, connect_timeout: 500 },
      script: byName({
        silent: (connection) => connection.closed,
        slow: async (connection) => {
          connection.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n');
          for (const byte of 'hello') {
            await delay(300);
            connection.write(byte);
          }
        },
        stalls: async (connection) => {
          connection.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello');
          await connection.closed;
        },
        'never-reads': async (connection) => {
          connection.reader.pause();
          await delay(3000);
        },
        plain: (connection) => connection.write(answer('plain')),
      }),
    });
  });
  after(() => rig.close());

  function get(path: string): string {
    return `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  }

  it('cause a 504 when they accept and never answer', async () => {
    const begun = performance.now();
    const response = await exchangeOne(rig.port, get('/silent'));
    assert.equal(response.status, 504);
    assert.match(response.body, /^The upstream server is timing out\nrequest_id: /);
    assert.ok(performance.now() - begun < 3000);
  });

  it('keep a transfer alive as long as single bytes arrive', async () => {
    const response = await exchangeOne(rig.port, get('/slow'));
    assert.equal(response.body, 'hello');
    assert.equal(response.complete, true);
  });

  it('break the transfer when they stop in mid-body', async () => {
    using client = await openClient(rig.port);
    client.write(get('/stalls'));
    const response = await client.readResponse();
    assert.equal(response.status, 200);
    assert.equal(response.complete, false);
  });

  it('cause a 502 when they refuse connections', async () => {
    await rig.write('PUT', '/services/closed', { url: 'http://127.0.0.1:1', retries: 2 });
    await rig.write('PUT', '/services/closed/routes/closed', { paths: ['/closed'] });
    const response = await exchangeOne(rig.port, get('/closed'));
    assert.equal(response.status, 502);
    assert.match(response.body, /^An invalid response was received from the upstream server\n/);
  });

  it('cause a 504 when their address drops packets (502 if the network reports it)', async () => {
    await rig.write('PUT', '/services/hole', { url: 'http://192.0.2.1', connect_timeout: 300, retries: 1 });
    await rig.write('PUT', '/services/hole/routes/hole', { paths: ['/hole'] });
    const begun = performance.now();
    const response = await exchangeOne(rig.port, get('/hole'));
    assert.ok(response.status === 504 || response.status === 502, `status ${response.status}`);
    assert.ok(performance.now() - begun < 3000);
  });

  it('do not affect other backends', async () => {
    const response = await exchangeOne(rig.port, get('/plain'));
    assert.equal(response.body, 'plain');
  });
});

// Separate: writing the targets keeps this process busy, and the backends above run in it.
describe('a list of targets', () => {
  it('causes a 502 in bounded time when all 1,000 are dead', async () => {
    await using rig = await startRig();
    await rig.write('PUT', '/upstreams/dead', {});
    const ports = Array.from({ length: 1000 }, (_, index) => index);
    for (let at = 0; at < ports.length; at += 50) {
      await Promise.all(
        ports.slice(at, at + 50).map((index) =>
          rig.write('POST', '/upstreams/dead/targets', {
            target: `127.${index >> 8}.${index & 255}.1:1`,
            weight: 10,
          }),
        ),
      );
    }
    await rig.write('PUT', '/services/dead', { host: 'dead', retries: 5 });
    await rig.write('PUT', '/services/dead/routes/dead', { paths: ['/dead'] });
    const begun = performance.now();
    const response = await exchangeOne(rig.port, 'GET /dead HTTP/1.1\r\nHost: a\r\n\r\n');
    assert.equal(response.status, 502);
    assert.ok(performance.now() - begun < 3000);
  });
});
