import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { after, before, describe, it } from 'node:test';
import { exchangeOne, openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 25: logins that are malformed, huge or many. */

/** Hash of the password `pw`, cost 7: one check takes about 10 ms. */
const bcrypt = '$2y$07$abcdefghijklmnopqrstuuCFlpO0olCyLqvMHx68hp6b20ts9hFQe';
const users = 100;

describe('logins', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ settings: { plugins: ['basic-auth'], overloadLag: 0 } });
    const path = join(rig.gateway.prefix, 'users');
    await writeFile(path, Array.from({ length: users }, (_, at) => `user${at}:${bcrypt}\n`).join(''));
    await rig.write('POST', '/routes/all/plugins', { name: 'basic-auth', config: { credentials_file: path } });
    await rig.write('PUT', '/services/open', { url: rig.backend.url });
    await rig.write('PUT', '/services/open/routes/open', { paths: ['/open'], strip_path: false });
  });
  after(() => rig.close());

  const login = (value: string | Buffer): string => `Basic ${Buffer.from(value).toString('base64')}`;
  const statusOf = async (authorization: string): Promise<number> =>
    (await exchangeOne(rig.port, `GET / HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`)).status;

  const malformed: Readonly<Record<string, string>> = {
    'no colon': login('user0pw'),
    'an empty user': login(':pw'),
    'an empty password': login('user0:'),
    'nothing at all': login(':'),
    'bytes that are not UTF-8': login(Buffer.from('user0:\xff\xfepw', 'latin1')),
    'a user that is not UTF-8': login(Buffer.from('\xff:pw', 'latin1')),
    'a control character': login('user0:pw\0'),
    'a line break in the user': login('user0\r\nX-Consumer-ID: 1:pw'),
    'no token': 'Basic',
    'no base64': 'Basic ?????',
    'base64 with a blank': 'Basic dXNlcjA6 cHc=',
    'another scheme': 'Digest dXNlcjA6cHc=',
    'a user of 5,000 letters': login(`${'u'.repeat(5000)}:pw`),
    'a password of 10,000 letters': login(`user0:${'p'.repeat(10_000)}`),
  };
  for (const [what, authorization] of Object.entries(malformed)) {
    it(`are refused: ${what}`, async () => {
      const seen = rig.backend.requests.length;
      assert.equal(await statusOf(authorization), 401);
      assert.equal(rig.backend.requests.length, seen);
    });
  }

  it('are refused: a header of 1 MB', async () => {
    using client = await openClient(rig.port);
    client.write(`GET / HTTP/1.1\r\nHost: a\r\nAuthorization: ${login(`user0:${'p'.repeat(750_000)}`)}\r\n\r\n`);
    const { status } = await client.readResponse();
    assert.ok([400, 431].includes(status), `status ${status}`);
  });

  it('do not hold up other requests: 100 passwords at once', async () => {
    const checks = Array.from({ length: users }, (_, at) => statusOf(login(`user${at}:pw`)));
    let checking = true;
    const done = Promise.all(checks).finally(() => {
      checking = false;
    });
    // The event loop of this thread only sends these requests: when it is late, the machine is overloaded.
    const ours = monitorEventLoopDelay({ resolution: 5 });
    ours.enable();
    const took: number[] = [];
    while (checking) {
      using client = await openClient(rig.port);
      for (let count = 0; count < 100 && checking; count++) {
        const begin = performance.now();
        client.write('GET /open HTTP/1.1\r\nHost: a\r\n\r\n');
        assert.equal((await client.readResponse()).status, 200);
        took.push(performance.now() - begin);
      }
    }
    ours.disable();
    assert.deepEqual(new Set(await done), new Set([200]));
    took.sort((a, b) => a - b);
    const p99 = took[Math.floor(took.length * 0.99)] ?? Number.POSITIVE_INFINITY;
    assert.ok(took.length >= 50, `only ${took.length} requests while the passwords were checked`);
    const noise = ours.percentile(99) / 1e6;
    assert.ok(p99 < 50 + noise, `a request took ${p99.toFixed(1)} ms, and this loop was ${noise.toFixed(1)} ms late`);
  });

  it('get 503 beyond the capacity for checks, and later ones are served', async () => {
    const tokens = Array.from({ length: 300 }, (_, at) => login(`user1:wrong${at}`));
    const statuses = await Promise.all(tokens.map(statusOf));
    const counts = new Map<number, number>();
    for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
    assert.deepEqual([...counts.keys()].sort(), [401, 503]);
    assert.equal(await statusOf(login('user2:pw')), 200);
    const status = (await (await fetch(`${rig.gateway.statusUrl}/status`)).json()) as { plugins?: unknown };
    assert.match(JSON.stringify(status.plugins), /busy_refusals/);
  });
});
