import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';

type Fields = Readonly<Record<string, unknown>>;

describe('the audit log of a node', () => {
  let prefix = '';
  let gateway: TestGateway;
  const start = () => startTestGateway({ settings: { prefix, adminToken: 't0ken-of-admin' } });

  before(async () => {
    prefix = await mkdtemp(join(tmpdir(), 'sluicegate-audit-'));
    gateway = await start();
  });
  after(async () => {
    await gateway.stop();
    await rm(prefix, { recursive: true, force: true });
  });

  async function call(method: string, path: string, body?: unknown, token = 't0ken-of-admin') {
    const response = await fetch(gateway.adminUrl + path, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: (text === '' ? {} : JSON.parse(text)) as Fields };
  }

  async function records(query = ''): Promise<readonly Fields[]> {
    return (await call('GET', `/audit${query}`)).json['data'] as readonly Fields[];
  }

  it('has records for writes to plugin endpoints and health endpoints', async () => {
    await call('POST', '/plugins', { name: 'proxy-cache', config: { strategy: 'memory' } });
    assert.equal((await call('DELETE', '/proxy-cache')).status, 204);
    await call('PUT', '/upstreams/u', { healthchecks: { passive: { unhealthy: { http_failures: 1 } } } });
    await call('POST', '/upstreams/u/targets', { target: '127.0.0.1:1' });
    await until(async () => (await call('PUT', '/upstreams/u/targets/127.0.0.1:1/unhealthy')).status === 204);
    const [marked, , , purged, made] = await records();
    assert.deepEqual(
      [marked, purged].map((record) => [
        record?.['operation'],
        record?.['method'],
        record?.['path'],
        record?.['status'],
      ]),
      [
        ['action', 'PUT', '/upstreams/u/targets/127.0.0.1:1/unhealthy', 204],
        ['action', 'DELETE', '/proxy-cache', 204],
      ],
    );
    assert.deepEqual([made?.['entity'], made?.['name']], ['plugins', 'proxy-cache']);
    assert.deepEqual(marked?.['actor'], { kind: 'token', name: 'admin-token' });
  });

  it('survives a restart and contains no secrets', async () => {
    await call('PUT', '/consumers/ada', {});
    await call('POST', '/consumers/ada/key-auth', { key: 'very-s3cret-key' });
    await call('DELETE', '/key-auths/very-s3cret-key');
    const seen = await records('?size=1000');
    await gateway.stop();
    gateway = await start();
    assert.deepEqual(await records('?size=1000'), seen);
    const [deleted, created] = seen;
    assert.equal(deleted?.['path'], '/key-auths/REDACTED');
    assert.match(JSON.stringify(created?.['after']), /"key":"REDACTED"/);
    assert.deepEqual([deleted?.['name'], created?.['name']], [null, null]);
    assert.ok(!JSON.stringify(seen).includes('s3cret'));
    assert.ok(!JSON.stringify(seen).includes('t0ken'));
  });

  it('has no record for a wrong token, which the error log reports', async () => {
    const before = await records();
    assert.equal((await call('DELETE', '/consumers/ada', undefined, 'wr0ng')).status, 401);
    assert.deepEqual(await records(), before);
    await until(async () => {
      const log = await readFile(join(prefix, 'error.log'), 'utf8');
      assert.ok(!log.includes('wr0ng'));
      return log.includes('without a valid token');
    });
  });
});
