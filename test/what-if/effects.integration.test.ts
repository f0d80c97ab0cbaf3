import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.ts';
import { type Json, startWhatIfRig, summary, type WhatIfRig } from './what-if-rig.fixture.ts';

/** A dry run changes nothing: no row, no file, no connection, no counter; and nothing that a plugin does stops the node. */

let rig: WhatIfRig;
let folder: string;
let server: Server;
let connections = 0;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluicegate-what-if-'));
  server = createServer((socket) => {
    connections++;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const busybody = fileURLToPath(new URL('./busybody.fixture.ts', import.meta.url));
  rig = await startWhatIfRig({ env: { KONG_PLUGINS: `bundled,${busybody}` } });
});
after(async () => {
  await rig.close();
  server.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => rig.forget());

const add = (does: string) => ({
  method: 'POST',
  path: '/routes/all/plugins',
  body: {
    name: 'busybody',
    config: { does, file: join(folder, does), port: (server.address() as AddressInfo).port },
  },
});

async function sent(count: number): Promise<void> {
  for (let number = 0; number < count; number++) await rig.send('/');
  await rig.kept(count);
}

describe('a dry run', () => {
  it('leaves the config, its versions and the audit records as they are', async () => {
    await sent(2);
    const state = async (): Promise<Json> => {
      const [exported, versions, audit, usage] = await Promise.all(
        ['/config/export?format=json', '/config/versions', '/audit', '/plugins'].map((path) =>
          fetch(rig.gateway.adminUrl + path).then((response) => response.text()),
        ),
      );
      return { exported, versions, audit, usage };
    };
    const before = await state();
    const { changed } = await rig.whatIf([
      { method: 'PUT', path: '/consumers/eve' },
      { method: 'POST', path: '/consumers/eve/key-auth', body: { key: 'k' } },
      { method: 'PATCH', path: '/services/backend', body: { retries: 7 } },
      { method: 'POST', path: '/routes/all/plugins', body: { name: 'key-auth' } },
      { method: 'DELETE', path: '/routes/all' },
    ]);
    assert.equal(changed, 2);
    await rig.gateway.admin('POST', '/what-if', { config: { _format_version: '3.0' } });
    await rig.gateway.admin('POST', '/what-if', { changes: [{ method: 'POST', path: '/routes', body: {} }] });
    assert.deepEqual(await state(), before);
    assert.equal(await rig.send('/'), 200);
  });

  it('keeps what plugins count and print in its own thread', async () => {
    const { id } = await rig.write('POST', '/routes/all/plugins', { name: 'busybody', config: { does: 'count' } });
    const first = Number(await rig.read('/'));
    await rig.kept(1);
    const counted = async (): Promise<Json> => ((await rig.gateway.admin('GET', '/status')).body as Json).plugins;
    // The worker sends its counts from time to time.
    await until(async () => (await counted()).busybody?.calls === 1);
    const printed = { method: 'PATCH', path: `/plugins/${id}`, body: { config: { does: 'print' } } };
    const report = await rig.whatIf([printed]);
    assert.deepEqual(summary(report), ['1: 200 busybody of all -> 202 busybody of all']);
    assert.equal((await counted()).busybody.calls, 1);
    assert.equal(Number(await rig.read('/')), first + 1);
    await until(async () => (await counted()).busybody?.calls === 2);
    await rig.write('DELETE', `/plugins/${id}`);
  });

  it('writes no file, opens no connection and starts nothing', async () => {
    const files = ['file', 'write stream', 'open sync', 'open', 'write file', 'remove'];
    const network = ['connect', 'tls', 'http2', 'fetch', 'datagram', 'listen', 'lookup', 'resolve', 'txt'];
    const processes = ['spawn', 'kill', 'exit', 'thread'];
    const all = [...files, ...network, ...processes];
    await writeFile(join(folder, 'as the header says.kept'), '');
    for (const does of all) await rig.send('/', `X-Does: ${does}\r\n`);
    await rig.kept(all.length);
    const report = await rig.whatIf([add('as the header says')]);
    assert.deepEqual(
      report.undecided.map(({ reason, plugin, count }: Json) => [reason, plugin, count]),
      [
        ['It depends on an answer from outside of the gateway, which a dry run does not ask for.', 'busybody', 9],
        ['It would write a file, which a dry run does not.', 'busybody', 6],
        ['It would start a process or a thread, which a dry run does not.', 'busybody', 4],
      ],
    );
    assert.equal(report.changed, 0);
    await rig.forget();
    await sent(1);
    assert.deepEqual(summary(await rig.whatIf([add('log-phase')])), ['1: 200 backend of all -> 202 busybody of all']);
    assert.deepEqual(await readdir(folder), ['as the header says.kept']);
    assert.equal(connections, 0);
  });

  it('ends in time when a plugin loops, and the node goes on', async () => {
    await sent(3);
    const began = performance.now();
    const report = await rig.whatIf([add('loop')]);
    assert.ok(performance.now() - began < 20_000);
    assert.deepEqual(report.requests, { ...report.requests, kept: 3, replayed: 1, undecided: 1 });
    assert.equal(report.undecided[0].plugin, 'busybody');
    assert.match(report.undecided[0].reason, /did not return/);
    assert.match(report.note, /1 of 3 requests were repeated/);
    assert.equal(await rig.send('/'), 200);
  });

  it('reports a plugin that uses up the memory or throws later, and the node goes on', async () => {
    await sent(1);
    const filled = await rig.gateway.admin('POST', '/what-if', { changes: [add('fill')] });
    assert.equal(filled.status, 200, JSON.stringify(filled.body));
    const { replayed, undecided } = (filled.body as Json).requests;
    // A slow machine reaches the end of the time before that of the memory.
    assert.equal(replayed, undecided);
    assert.match((filled.body as Json).note ?? '1 of 1 requests were repeated', /^[01] of 1 requests were repeated/);
    const crashed = await rig.gateway.admin('POST', '/what-if', { changes: [add('crash')] });
    assert.equal(crashed.status, 200, JSON.stringify(crashed.body));
    assert.deepEqual(summary(crashed.body), ['1: 200 backend of all -> 202 busybody of all']);
    assert.equal(await rig.send('/'), 200);
  });

  it('runs alone: others wait, and too many are refused with a time to come back', async () => {
    await sent(1);
    const change = { method: 'DELETE', path: '/routes/all' };
    const all = await Promise.all(
      Array.from({ length: 9 }, () => rig.gateway.admin('POST', '/what-if', { changes: [change] })),
    );
    const statuses = all.map(({ status }) => status);
    assert.ok(statuses.filter((status) => status === 200).length >= 2, String(statuses));
    const refused = all.filter(({ status }) => status === 503);
    assert.equal(refused.length + statuses.filter((status) => status === 200).length, 9, String(statuses));
    assert.ok(refused.length > 0);
    for (const { headers } of refused) assert.equal(headers.get('retry-after'), '5');
    assert.deepEqual(summary(await rig.whatIf([change])), ['1: 200 backend of all -> 404 gateway of no route']);
  });
});
