import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { until } from '../support/until.ts';
import type { Record } from './traffic-rig.fixture.ts';

/** `GET /traffic/plugins`: what plugins take, from the timelines of recorded requests. */

let rig: Rig;
before(async () => {
  rig = await startRig({ env: { SLUICEGATE_TRAFFIC_RECORDER_RATE: '1000' } });
});
after(() => rig?.close());

const get = (path: string) => exchangeOne(rig.port, `GET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`);
const costs = async (): Promise<Record> => (await rig.gateway.admin('GET', '/traffic/plugins')).body;

test('plugins and their instances are listed with what they took, once somebody looks', async () => {
  await get('/before');
  assert.deepEqual(await costs(), { data: [], requests: 0, from: null, to: null });
  await rig.write('PUT', '/services/backend/routes/locked', { paths: ['/locked'] });
  const global = await rig.write('POST', '/plugins', { name: 'cors' });
  const key = await rig.write('POST', '/routes/locked/plugins', { name: 'key-auth' });
  const own = await rig.write('POST', '/routes/locked/plugins', { name: 'cors' });
  await until(async () => (await get('/locked')).status === 401 && (await get('/')).get('vary') !== null);
  // Records of earlier requests arrive before this one.
  await get('/marker');
  await until(async () => {
    const { body } = await rig.gateway.admin('GET', '/traffic?path=/marker');
    return (body as Record)['data'].length === 1;
  });
  await rig.gateway.admin('DELETE', '/traffic');
  const began = new Date().toISOString();
  for (let sent = 0; sent < 10; sent++) await get('/locked');
  for (let sent = 0; sent < 5; sent++) await get('/');
  await until(async () => (await costs()).requests === 15);
  const { data, from, to } = await costs();
  assert.ok(began <= from && from < to && to <= new Date().toISOString());
  assert.deepEqual(
    data.map(({ plugin, samples }: Record) => [plugin, samples]),
    [
      ['cors', 15],
      ['key-auth', 10],
    ],
  );
  const [cors, keyAuth] = data;
  assert.deepEqual(
    cors.instances.map(({ id, samples }: Record) => [id, samples]),
    [
      [global['id'], 5],
      [own['id'], 10],
    ].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  );
  assert.deepEqual(Object.keys(keyAuth.phases), ['access']);
  assert.deepEqual(keyAuth.instances[0].id, key['id']);
  for (const cost of [cors, keyAuth, ...cors.instances, ...Object.values<Record>(cors.phases)]) {
    assert.ok(Number.isInteger(cost.p50) && Number.isInteger(cost.p99), JSON.stringify(cost));
    assert.ok(cost.p50 > 0 && cost.p50 <= cost.p99 && cost.p99 < 10_000_000, JSON.stringify(cost));
  }
  // What key-auth took is in the record of a request, too.
  const { body } = await rig.gateway.admin('GET', '/traffic?path=/locked&size=1000');
  const ids = (body as Record)['data'].map(({ id }: Record) => id);
  const times: number[] = [];
  for (const id of ids) {
    const record: Record = (await rig.gateway.admin('GET', `/traffic/${id}`)).body;
    const plugin = record['explanation'].plugins.find(({ name }: Record) => name === 'key-auth');
    times.push(Math.round(plugin.ms * 1_000));
  }
  times.sort((a, b) => a - b);
  assert.deepEqual([keyAuth.p50, keyAuth.p99], [times[4], times[9]]);
});

test('an unknown parameter is refused, and forgotten requests cost nothing', async () => {
  const refused = await rig.gateway.admin('GET', '/traffic/plugins?plugin=cors');
  assert.equal(refused.status, 400);
  await rig.gateway.admin('DELETE', '/traffic');
  assert.equal((await costs()).requests, 0);
});
