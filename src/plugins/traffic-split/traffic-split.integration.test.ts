import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answer, answerEach, type RawBackend, startRawBackend } from '../../../test/support/raw-backend.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';

let rig: Rig;
let canary: RawBackend;
let serial = 0;

before(async () => {
  rig = await startRig({
    script: answerEach(() => answer('stable')),
    settings: { plugins: ['traffic-split'], workers: 2 },
  });
  canary = await startRawBackend(answerEach((request) => answer(`canary ${request.target}`)));
  await rig.write('PUT', '/services/canary', { url: `${canary.url}/v2` });
  await rig.write('PUT', '/upstreams/green', {});
  await rig.write('POST', '/upstreams/green/targets', { target: `127.0.0.1:${canary.port}` });
});
after(async () => {
  await rig.close();
  await canary.close();
});

async function route(config: Readonly<Record<string, unknown>>): Promise<string> {
  const name = `r${serial++}`;
  await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`] });
  await rig.write('POST', `/routes/${name}/plugins`, { name: 'traffic-split', config });
  return `${rig.gateway.proxyUrl}/${name}`;
}

async function ask(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const response = await fetch(url, { headers: { connection: 'close', ...headers } });
  return response.text();
}

test('sends shares to another service, with its path, and to another upstream', async () => {
  const service = await route({ backends: [{ name: 'canary', service: 'canary' }] });
  assert.equal(await ask(`${service}/x`), 'canary /v2/x');
  const upstream = await route({ backends: [{ name: 'green', upstream: 'green' }] });
  assert.equal(await ask(`${upstream}/x`), 'canary /x');
});

test('splits randomly by weight without stickiness', async () => {
  const url = await route({
    backends: [
      { name: 'canary', weight: 1, service: 'canary' },
      { name: 'own', weight: 1 },
    ],
  });
  const answers = await Promise.all(Array.from({ length: 60 }, () => ask(url)));
  const canaries = answers.filter((text) => text.startsWith('canary')).length;
  assert.ok(canaries > 10 && canaries < 50, String(canaries));
});

test('keeps a client in its share on all workers, and selects by a header', async () => {
  const url = await route({
    backends: [
      { name: 'canary', weight: 1, service: 'canary' },
      { name: 'own', weight: 1 },
    ],
    sticky_by: 'header',
    header_name: 'X-User',
    force_header: 'X-Part',
  });
  const parts = new Set<string>();
  for (let user = 0; user < 12; user++) {
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(url, { 'x-user': `user ${user}` })));
    assert.equal(new Set(answers).size, 1);
    parts.add(answers[0] ?? '');
  }
  assert.equal(parts.size, 2);
  assert.match(await ask(url, { 'x-part': 'canary' }), /^canary/);
  assert.equal(await ask(url, { 'x-part': 'own' }), 'stable');
});

test('follows a destination that is removed and added again', async () => {
  const url = await route({ backends: [{ name: 'late', service: 'late' }] });
  assert.equal(await ask(url), 'stable');
  await rig.write('PUT', '/services/late', { url: canary.url });
  assert.match(await ask(url), /^canary/);
  await rig.gateway.admin('DELETE', '/services/late');
  assert.equal(await ask(url), 'stable');
});
