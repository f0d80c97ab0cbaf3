import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { run } from '../run.ts';
import type { NodeProcess } from '../testing/node-process.ts';
import { startNode } from '../testing/node-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'cli-start-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The last of the lines that report that the node is up. */
const up = /^ {2}status .*\n/m;
const running: NodeProcess[] = [];
afterEach(async () => {
  for (const { child, exit } of running.splice(0)) {
    child.kill('SIGKILL');
    await exit;
  }
});

let prefixes = 0;
function fresh(): string {
  return mkdtempSync(join(folder, `${++prefixes}-`));
}

function start(prefix: string, ...options: readonly string[]): NodeProcess {
  const node = startNode(prefix, ...options);
  running.push(node);
  return node;
}

async function cli(prefix: string, ...argv: readonly string[]): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const add = (line: string): void => void lines.push(line);
  const code = await run([...argv, '-p', prefix], { env: {}, cwd: prefix, out: add, err: add });
  return { code, text: lines.join('\n') };
}

/** A request that the node has begun to answer and will not finish. */
async function hangingRequest(node: NodeProcess): Promise<void> {
  const port = /proxy +http:\/\/127\.0\.0\.1:(\d+)/.exec(node.output())?.[1];
  await new Promise<void>((resolve, reject) => {
    const request = get({ port, agent: false }, (response) => {
      response.once('data', () => resolve()).on('error', () => undefined);
    });
    request.on('error', reject);
  });
}

test('the first lines show the addresses, and the pid file is created and removed', async () => {
  const prefix = fresh();
  const node = start(prefix);
  await node.printed(/Sluicegate \S+ started \(.*\)\n {2}proxy {6}http:\/\/127\.0\.0\.1:\d+\n {2}admin {6}off/);
  const pidFile = join(prefix, 'pids', 'sluicegate.pid');
  assert.equal(readFileSync(pidFile, 'utf8'), `${node.child.pid}\n`);
  assert.deepEqual(await cli(prefix, 'health'), {
    code: 0,
    text: `sluicegate..running\n\nSluicegate is healthy at ${prefix}`,
  });
  assert.deepEqual(await cli(prefix, 'quit'), { code: 0, text: 'Sluicegate stopped (gracefully)' });
  assert.equal(await node.exit, 0);
  assert.equal(existsSync(pidFile), false);
  assert.deepEqual(readdirSync(join(prefix, 'pids')), ['sluicegate.lock']);
  assert.deepEqual(await cli(prefix, 'health'), { code: 1, text: `Error: Sluicegate is not running at ${prefix}` });
  assert.deepEqual(await cli(prefix, 'stop'), { code: 1, text: `Error: Sluicegate is not running in ${prefix}` });
});

test('a second node in the same prefix is refused', async () => {
  const prefix = fresh();
  const node = start(prefix);
  await node.printed(up);
  const second = start(prefix);
  assert.equal(await second.exit, 1);
  assert.equal(second.output(), `Error: Sluicegate is already running in ${prefix}\n`);
  assert.equal((await cli(prefix, 'health')).code, 0);
});

test('the pid file of a node that was killed is no obstacle', async () => {
  const prefix = fresh();
  const killed = start(prefix);
  await killed.printed(up);
  killed.child.kill('SIGKILL');
  await killed.exit;
  const node = start(prefix);
  await node.printed(up);
  node.child.kill('SIGTERM');
  assert.equal(await node.exit, 0);
});

test('a pid file whose number now belongs to another program is no obstacle', {
  skip: existsSync('/proc/self') ? false : 'needs /proc',
}, async () => {
  const prefix = fresh();
  const first = start(prefix);
  await first.printed(up);
  first.child.kill('SIGTERM');
  await first.exit;
  writeFileSync(join(prefix, 'pids', 'sluicegate.pid'), `${process.pid}\n`);
  const node = start(prefix);
  await node.printed(up);
});

/** Leaves a pid file behind, as a node does that was killed. */
function stalePidFile(prefix: string, pid: number): void {
  mkdirSync(join(prefix, 'pids'));
  writeFileSync(join(prefix, 'pids', 'sluicegate.pid'), `${pid}\n`);
}

test('a pid file with the id of a thread, or of a gateway with another prefix, does not prevent a start', {
  skip: existsSync('/proc/self') ? false : 'needs /proc',
}, async () => {
  const other = start(fresh());
  await other.printed(up);
  const pid = other.child.pid ?? 0;
  const thread = readdirSync(`/proc/${pid}/task`)
    .map(Number)
    .find((task) => task !== pid);
  assert.ok(thread !== undefined);
  for (const stale of [thread, pid]) {
    const prefix = fresh();
    stalePidFile(prefix, stale);
    for (const command of ['stop', 'quit', 'reload']) {
      const { code, text } = await cli(prefix, command);
      assert.deepEqual({ code, text }, { code: 1, text: `Error: Sluicegate is not running in ${prefix}` });
    }
    const node = start(prefix);
    await node.printed(up);
    assert.equal((await cli(prefix, 'health')).code, 0);
    assert.equal((await cli(prefix, 'stop')).code, 0);
    assert.equal(await node.exit, 0);
  }
  assert.equal(other.child.exitCode, null, 'a command for one prefix does not signal the node of another');
  assert.doesNotMatch(other.output(), /SIG|reopened/);
});

test('a node keeps its prefix although its pid file names another process', async () => {
  const prefix = fresh();
  const node = start(prefix);
  await node.printed(up);
  writeFileSync(join(prefix, 'pids', 'sluicegate.pid'), `${process.ppid}\n`);
  assert.equal((await cli(prefix, 'stop')).code, 1, 'it signals no process');
  const second = start(prefix);
  assert.equal(await second.exit, 1);
  assert.match(second.output(), /already running/);
  assert.equal(node.child.exitCode, null);
});

test('a first signal waits for requests in flight, a second one ends at once', async () => {
  const prefix = fresh();
  const node = start(prefix);
  await node.printed(up);
  await hangingRequest(node);
  node.child.kill('SIGTERM');
  await node.printed('SIGTERM: finishing requests in flight, at most 30 s; a second signal ends at once');
  node.child.kill('SIGINT');
  assert.equal(await node.exit, 130);
  assert.equal(existsSync(join(prefix, 'pids', 'sluicegate.pid')), false);
});

test('stop repeats the signal when requests take longer than its timeout', async () => {
  const prefix = fresh();
  const node = start(prefix);
  await node.printed(up);
  await hangingRequest(node);
  assert.deepEqual(await cli(prefix, 'stop', '-t', '0.1'), { code: 0, text: 'Sluicegate stopped' });
  assert.equal(await node.exit, 143);
});

test('reload prints what the node has applied, and what needs a restart', async () => {
  const prefix = fresh();
  const node = start(prefix);
  await node.printed(up);
  assert.deepEqual(await cli(prefix, 'reload'), {
    code: 0,
    text: 'Sluicegate reloaded\napplied: log_level\nneeds a restart (sluicegate upgrade): drain_timeout',
  });
});

test('SIGUSR1 reopens the logs', async () => {
  const node = start(fresh());
  await node.printed(up);
  node.child.kill('SIGUSR1');
  await node.printed('logs reopened');
  assert.doesNotMatch(node.output(), /Debugger listening/);
});

test('an upgrade that cannot begin is reported, and the node continues', async () => {
  const prefix = fresh();
  const node = start(prefix);
  await node.printed(up);
  const { code, text } = await cli(prefix, 'upgrade');
  assert.equal(code, 1);
  assert.match(text, /^Error: upgrade failed: not supported; process \d+ continues$/);
  assert.equal((await cli(prefix, 'health')).code, 0);
});

test('a start that fails is one line and exit code 1, and leaves no pid file', async () => {
  const prefix = fresh();
  const node = start(prefix);
  await node.printed(up);
  const port = /127\.0\.0\.1:(\d+)/.exec(node.output())?.[1];
  const other = fresh();
  const second = start(other, '--proxy-listen', `127.0.0.1:${port}`);
  assert.equal(await second.exit, 1);
  assert.match(second.output(), /^Error: .*EADDRINUSE.*\n$/);
  assert.equal(existsSync(join(other, 'pids', 'sluicegate.pid')), false);
});

test('with JSON logs every line is JSON, from the first to the last', async () => {
  const node = start(fresh(), '--log-format', 'json');
  await node.printed('}\n');
  const record = JSON.parse(node.output().split('\n')[0] ?? '');
  assert.equal(record.level, 'notice');
  assert.equal(record.addresses.proxy[0].ip, '127.0.0.1');
  node.child.kill('SIGHUP');
  await node.printed('logs reopened');
  node.child.kill('SIGTERM');
  assert.equal(await node.exit, 0);
  const messages = node
    .output()
    .trim()
    .split('\n')
    // The gateway of these tests prints that itself.
    .filter((line) => line !== 'logs reopened')
    .map((line) => JSON.parse(line).msg);
  assert.equal(messages.at(-1), 'Sluicegate stopped (gracefully)');
});

test('a log file that cannot be written stops the start', async () => {
  const prefix = fresh();
  writeFileSync(join(prefix, 'file'), '');
  const node = start(prefix, '--proxy-access-log', 'file/x.log');
  assert.equal(await node.exit, 1);
  assert.match(node.output(), /^Error: proxy_access_log: cannot write .*file\/x\.log: ENOTDIR.*\n$/);
});
