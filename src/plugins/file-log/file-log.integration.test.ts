import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type LogRig, recordsOf, type SeenRecord, startLogRig } from '../../../test/support/log-rig.ts';
import { until } from '../../../test/support/until.ts';

const workers = 3;

describe('file-log', () => {
  let rig: LogRig;
  let path = '';
  const records = (file = path): readonly SeenRecord[] =>
    existsSync(file) ? recordsOf(readFileSync(file, 'utf8')) : [];
  const arrived = async (count: number, file = path): Promise<readonly SeenRecord[]> => {
    await until(() => records(file).length >= count);
    return records(file);
  };
  const paths = (seen: readonly SeenRecord[]): readonly string[] => seen.map((one) => one['request'].uri);

  before(async () => {
    rig = await startLogRig({ workers });
    path = join(rig.rig.gateway.prefix, 'requests.log');
    await rig.plugin('file-log', { path });
  });
  after(() => rig[Symbol.asyncDispose]());

  it('writes a record for each request and each stream', async () => {
    assert.equal(
      await rig.request('/first?apikey=hidden-1', 'Authorization: Bearer hidden-2\r\nX-Odd: a\x85"}\r\n'),
      200,
    );
    await rig.talk('hello');
    await rig.sendDatagram('hi');
    const seen = await arrived(3);
    const text = readFileSync(path, 'utf8');
    assert.doesNotMatch(text, /hidden/);
    assert.match(text, /^([^\r\n]+\n){3}$/);
    const web = seen.find((one) => 'request' in one)!;
    assert.equal(web['request'].method, 'GET');
    assert.equal(web['response'].status, 200);
    assert.equal(web['service'].name, 'web');
    const tcp = seen.find((one) => one['route'].name === 'echo')!;
    assert.deepEqual(tcp['session'], { received: 5, sent: 5, status: 200, server_port: rig.rig.ports[0] });
    assert.deepEqual(tcp['upstream'], { received: 5, sent: 5 });
    assert.equal(tcp['tries'].length, 1);
    assert.equal(tcp['service'].name, 'echo');
    assert.equal(tcp['client_ip'], '127.0.0.1');
    const udp = seen.find((one) => one['route'].name === 'datagrams')!;
    assert.deepEqual(udp['session'], { received: 2, sent: 2, status: 200, server_port: rig.rig.ports[1] });
    assert.equal(udp['tries'].length, 1);
  });

  it('writes lines of several workers without mixing them', async () => {
    await rig.plugin('file-log', { path: `${path}.many` });
    const header = `X-Long: ${'x'.repeat(6000)}\r\n`;
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 20 }, (_, turn) => rig.request(`/many/${round}/${turn}`, header)));
    }
    const seen = await arrived(400, `${path}.many`);
    assert.equal(new Set(paths(seen)).size, 400);
    assert.ok(seen.every((one) => one['request'].headers['x-long'].length === 6000));
  });

  it('continues in a new file when the logs are reopened', async () => {
    await rig.plugin('file-log', { path: `${path}.kept` });
    await rig.request('/one');
    await arrived(1, `${path}.kept`);
    renameSync(`${path}.kept`, `${path}.kept.1`);
    await rig.request('/two');
    await arrived(2, `${path}.kept.1`);
    assert.equal(existsSync(`${path}.kept`), false);
    rig.rig.gateway.gateway.reopenLogs();
    await until(() => existsSync(`${path}.kept`));
    await rig.request('/three');
    assert.deepEqual(paths(await arrived(1, `${path}.kept`)), ['/three']);
    assert.deepEqual(paths(records(`${path}.kept.1`)), ['/one', '/two']);
  });

  it('follows a moved file with reopen, and loses no line', async () => {
    await rig.plugin('file-log', { path: `${path}.moved`, reopen: true });
    let requests = 0;
    for (let move = 1; move <= 3; move++) {
      await until(async () => {
        await rig.request(`/${++requests}`);
        return existsSync(`${path}.moved`);
      });
      renameSync(`${path}.moved`, `${path}.moved.${move}`);
    }
    await rig.request(`/${++requests}`);
    const all = (): readonly SeenRecord[] => ['', '.1', '.2', '.3'].flatMap((end) => records(`${path}.moved${end}`));
    await until(() => all().length >= requests);
    assert.deepEqual(paths(all()).toSorted(), Array.from({ length: requests }, (_, at) => `/${at + 1}`).toSorted());
  });

  it('affects no request when the folder is missing; lost lines are counted, and the reason is logged', async () => {
    const before = (await rig.counts('file-log'))['lines_lost'] ?? 0;
    const lost = join(rig.rig.gateway.prefix, 'later', 'x.log');
    await rig.plugin('file-log', { path: lost });
    for (let turn = 0; turn < 10; turn++) assert.equal(await rig.request('/lost'), 200);
    await rig.talk('lost');
    await until(async () => ((await rig.counts('file-log'))['lines_lost'] ?? 0) - before === 11);
    const errors = (): readonly string[] =>
      readFileSync(rig.rig.gateway.settings.proxyErrorLog, 'utf8').match(/.*log lines are lost.*/g) ?? [];
    await until(() => errors().length > 0);
    assert.ok(errors().length <= workers, String(errors().length));
    assert.match(errors()[0] ?? '', /ENOENT.*"file-log"|"file-log".*ENOENT/);
    assert.equal(existsSync(join(lost, '..')), false);
    mkdirSync(join(lost, '..'));
    await until(async () => {
      await rig.request('/found');
      return records(lost).length > 0;
    });
  });

  it('affects no request when writing to /dev/full', async () => {
    const before = (await rig.counts('file-log'))['lines_lost'] ?? 0;
    await rig.plugin('file-log', { path: '/dev/full' });
    for (let turn = 0; turn < 30; turn++) assert.equal(await rig.request('/full'), 200);
    await until(async () => ((await rig.counts('file-log'))['lines_lost'] ?? 0) - before >= 30);
  });

  it('has an invalid path refused by the Admin API, with the field', async () => {
    const answer = await rig.rig.gateway.admin('POST', '/services/web/plugins', {
      name: 'file-log',
      config: { path: '/var/log/`id`' },
    });
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.body['fields'], { config: { path: 'not a valid filename' } });
  });

  it('writes buffered lines when the node stops', async () => {
    await using other = await startLogRig();
    const last = join(rig.rig.gateway.prefix, 'last.log');
    await other.plugin('file-log', { path: last });
    await other.request('/last');
    await other.rig.gateway.gateway.stop(true);
    assert.deepEqual(paths(records(last)), ['/last']);
  });
});
