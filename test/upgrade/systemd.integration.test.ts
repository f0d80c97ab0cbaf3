import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { activatedSockets } from '../../src/boot/listeners/activated-sockets.ts';
import { collectOutput } from '../../src/cli/testing/process-output.ts';
import { freePort } from '../support/free-port.ts';
import { isAlive, runCommand, startNodeInPrefix } from '../support/node-in-prefix.ts';
import { until } from '../support/until.ts';

const skip = ['systemd-notify', 'systemd-socket-activate'].every((tool) => spawnSync(tool, ['--version']).status === 0)
  ? false
  : 'needs systemd-notify and systemd-socket-activate (apt-get install systemd)';

/** Receives what a service sends to its manager: `systemd-socket-activate` binds the socket, and `cat` reads each datagram. */
async function startManager() {
  const folder = await mkdtemp(join(tmpdir(), 'sluicegate-systemd-'));
  const path = join(folder, 'notify');
  const argv = ['--datagram', `--listen=${path}`, '/bin/sh', '-c', 'exec cat <&3'];
  const child = spawn('systemd-socket-activate', argv, { stdio: ['ignore', 'pipe', 'pipe'] });
  const { output } = collectOutput(child);
  await until(() => existsSync(path));
  return {
    path,
    /** The messages since the last call that matches. */
    messages: () => output().split(/\n|(?=MAINPID|READY|WATCHDOG|RELOADING|STOPPING|BARRIER)/),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

test('systemd learns about the start, the watchdog, a reload, an upgrade and the stop', {
  skip,
}, async () => {
  await using manager = await startManager();
  await using node = await startNodeInPrefix({
    NOTIFY_SOCKET: manager.path,
    WATCHDOG_USEC: '600000',
    PATH: process.env['PATH'] ?? '',
  });
  const count = (message: string): number => manager.messages().filter((each) => each === message).length;
  const pid = await node.pid();
  await until(() => count('READY=1') === 1 && count(`MAINPID=${pid}`) === 1);
  await until(() => count('WATCHDOG=1') >= 2);
  assert.equal((await node.run('reload')).code, 0);
  await until(() => count('RELOADING=1') === 1 && count('READY=1') === 2);
  assert.ok(manager.messages().some((each) => /^MONOTONIC_USEC=\d+$/.test(each)));
  assert.equal((await node.run('upgrade')).code, 0);
  const next = await node.pid();
  await until(() => count(`MAINPID=${next}`) === 1 && count('READY=1') === 3);
  await until(() => !isAlive(pid), 20_000);
  const pings = count('WATCHDOG=1');
  await until(() => count('WATCHDOG=1') > pings);
  assert.equal(count('STOPPING=1'), 0, 'the end of the old process is not that of the service');
  assert.equal((await node.run('stop')).code, 0);
  await until(() => count('STOPPING=1') === 1);
});

/** Starts a gateway as systemd does, on sockets that exist before it. */
async function startActivated(listen: readonly string[], env: Readonly<Record<string, string>>, names: string | null) {
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-activated-'));
  const main = join(import.meta.dirname, '../../src/main.ts');
  const argv = [
    ...listen.map((address) => `--listen=${address}`),
    ...(names === null ? [] : [`--fdname=${names}`]),
    ...Object.keys({ ...env, KONG_PREFIX: prefix, PATH: '' }).map((name) => `-E${name}`),
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    main,
    'start',
  ];
  const child = spawn('systemd-socket-activate', argv, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', KONG_PREFIX: prefix, ...env },
  });
  return {
    ...collectOutput(child),
    prefix,
    child,
    run: (command: string) => runCommand([command], { KONG_PREFIX: prefix, ...env }),
    async [Symbol.asyncDispose]() {
      const pid = Number(await readFile(join(prefix, 'pids', 'sluicegate.pid'), 'utf8').catch(() => '0'));
      for (const one of [pid, child.pid ?? 0]) {
        if (one > 0 && isAlive(one)) process.kill(one, 'SIGKILL');
      }
      await rm(prefix, { recursive: true, force: true });
    },
  };
}

const ownPorts = {
  KONG_ADMIN_LISTEN: '127.0.0.1:0',
  KONG_STATUS_LISTEN: 'off',
  KONG_ADMIN_GUI_LISTEN: 'off',
  KONG_NGINX_WORKER_PROCESSES: '3',
};

test('accepts on the sockets of systemd, also after an upgrade', {
  skip,
}, async () => {
  const port = await freePort();
  await using node = await startActivated(
    [`127.0.0.1:${port}`],
    { ...ownPorts, KONG_PROXY_LISTEN: `127.0.0.1:${port}` },
    null,
  );
  // The first connection starts the service, and waits in the queue until it accepts.
  await until(() => node.output().includes('Listening on'));
  const first = fetch(`http://127.0.0.1:${port}/`);
  assert.equal((await first).status, 404);
  await node.printed(/^ {2}status .*\n/m);
  const admin = /^ {2}admin +(http:\S+)/m.exec(node.output())?.[1] ?? '';
  const load = async (): Promise<void> => {
    for (let at = 0; at < 20; at++) {
      const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { Connection: 'close' } });
      await response.arrayBuffer();
      assert.equal(response.status, 404);
    }
  };
  await load();
  const { code, output } = await node.run('upgrade');
  assert.equal(code, 0, output);
  await load();
  const about = (await (await fetch(admin)).json()) as { readonly pids: { readonly workers: readonly number[] } };
  assert.equal(about.pids.workers.length, 3);
});

test('finds the listener of a socket by its name, and refuses one that no listener uses', {
  skip,
}, async () => {
  const port = await freePort();
  await using named = await startActivated(
    [`127.0.0.1:${port}`],
    { ...ownPorts, KONG_PROXY_LISTEN: '0.0.0.0:8000' },
    'proxy',
  );
  await until(() => named.output().includes('Listening on'));
  assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 404);
  await named.printed(/^ {2}status .*\n/m);
  assert.match(named.output(), new RegExp(`^ {2}proxy +http://127\\.0\\.0\\.1:${port}$`, 'm'));

  await using stray = await startActivated(
    [`127.0.0.1:${port + 1}`],
    { ...ownPorts, KONG_PROXY_LISTEN: '127.0.0.1:0' },
    'web',
  );
  await until(() => stray.output().includes('Listening on'));
  const refused = fetch(`http://127.0.0.1:${port + 1}/`).catch(() => null);
  await stray.printed(/systemd has passed a socket that no listener uses: tcp 127\.0\.0\.1:\d+ \(web\)/);
  await refused;
});

test('ignores sockets that are meant for another process', { skip }, () => {
  const env = { LISTEN_PID: String(process.ppid), LISTEN_FDS: '1', LISTEN_FDNAMES: 'proxy' };
  assert.deepEqual(activatedSockets(env), []);
  assert.deepEqual(env, {}, 'and passes them on to nobody');
  assert.throws(
    () => activatedSockets({ LISTEN_PID: String(process.pid), LISTEN_FDS: 'all' }),
    /^Error: LISTEN_FDS is not a number of descriptors: 'all'$/,
  );
});

test('the units are valid', {
  skip: skip === false && spawnSync('systemd-analyze', ['--version']).status !== 0 ? 'needs systemd-analyze' : skip,
}, () => {
  const folder = join(import.meta.dirname, '../../deploy/systemd');
  for (const unit of ['sluicegate.service', 'sluicegate.socket']) {
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', join(folder, unit)], { encoding: 'utf8' });
    // The command is installed with the package.
    const problems = stderr
      .split('\n')
      .filter((line) => line.includes('sluicegate') && !line.includes('is not executable'));
    assert.deepEqual(problems, []);
  }
});
