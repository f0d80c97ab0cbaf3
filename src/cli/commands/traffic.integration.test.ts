import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { exchangeOne } from '../../../test/support/raw-client.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { until } from '../../../test/support/until.ts';
import { withToken } from '../../control/admin/access/users.fixture.ts';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
let rig: Rig;
/** Token of the admin. */
let issued = '';

before(async () => {
  rig = await startRig({ route: { paths: ['/open'] } });
  const admin = withToken(rig.gateway.adminUrl, null);
  const first = await admin('POST', '/admin-users', { name: 'admin', role: 'admin' });
  assert.equal(first.status, 201, first.text);
  issued = String(first.json['token']);
});
after(() => rig.close());

interface Running {
  readonly process: ChildProcessByStdio<null, Readable, Readable>;
  readonly out: () => string;
  readonly err: () => string;
  readonly code: Promise<number>;
}

function start(...options: readonly string[]): Running {
  const argv = ['--disable-warning=ExperimentalWarning', '--conditions=sluicegate-source', main, 'traffic'];
  const process = spawn(globalThis.process.execPath, [...argv, '--admin', rig.gateway.adminUrl, ...options], {
    env: { SLUICEGATE_ADMIN_TOKEN: issued },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  process.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  process.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const code = once(process, 'close').then(([status]) => Number(status ?? -1));
  return { process, out: () => out, err: () => err, code };
}

/** Sends the request until the command has printed something: it takes a while to start. */
async function sendUntilPrinted(path: string, running: Running, fields = ''): Promise<void> {
  await until(async () => {
    await exchangeOne(rig.port, `GET ${path} HTTP/1.1\r\nHost: a.test\r\n${fields}\r\n`);
    return running.out() !== '' || running.process.exitCode !== null;
  }, 30_000);
}

describe('sluicegate traffic', () => {
  it('prints a line for each request that the filters select', async () => {
    const running = start('--path', '/open/wanted', '--path', '/nowhere', '--status', '2xx,404', '-n', '2');
    await exchangeOne(rig.port, 'GET /open/other HTTP/1.1\r\nHost: a.test\r\n\r\n');
    await sendUntilPrinted('/open/wanted', running);
    await exchangeOne(rig.port, 'GET /nowhere/%1b%5b31m HTTP/1.1\r\nHost: a.test\r\n\r\n');
    await until(async () => {
      await exchangeOne(rig.port, 'GET /nowhere HTTP/1.1\r\nHost: a.test\r\n\r\n');
      return running.process.exitCode !== null;
    });
    assert.equal(await running.code, 0, running.err());
    const lines = running.out().trimEnd().split('\n');
    assert.equal(lines.length, 2, running.out());
    const [first = '', second = ''] = lines;
    assert.match(
      first,
      /^\d\d:\d\d:\d\d\.\d{3} {2}200 {2}GET {4}\/open\/wanted +[\d.]+ ms {2}127\.0\.0\.1 +all +- +backend 127\.0\.0\.1:\d+$/,
    );
    assert.match(second, /200|404/);
    assert.doesNotMatch(running.out(), /other|\x1b/);
  });

  it('prints JSON with --json', async () => {
    const running = start('--json', '--count', '1', '--method', 'get');
    await sendUntilPrinted('/open/json', running);
    assert.equal(await running.code, 0, running.err());
    const record = JSON.parse(running.out());
    assert.deepEqual([record.path, record.status, record.by], ['/open/json', 200, 'backend']);
    assert.equal(running.out().trimEnd().includes('\n'), false);
  });

  it('says in one line what is wrong', async () => {
    const wrong: readonly (readonly [options: readonly string[], expected: RegExp])[] = [
      [['--status', 'none'], /^Error: the Admin API answered 400: .*status: 'none' is neither a status/],
      [['--count', '0'], /^Error: --count must be a number from 1/],
      [['--token', 'wrong'], /^Error: the Admin API requires a token/],
      [['something'], /^Error: unexpected argument 'something'/],
    ];
    for (const [options, expected] of wrong) {
      const running = start(...options);
      assert.equal(await running.code, 1, options.join(' '));
      assert.match(running.err(), expected);
      assert.equal(running.out(), '');
    }
  });
});
