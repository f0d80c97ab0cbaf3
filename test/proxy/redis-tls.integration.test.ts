import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { CertificateAuthority } from '../support/certificate-authority.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { skipWithoutRedis, startRedis, type TestRedisOptions } from '../support/redis.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { startSentinel } from '../support/redis-sentinel.ts';
import { until } from '../support/until.ts';

type Fields = Readonly<Record<string, unknown>>;

describe('Redis with TLS', { skip: skipWithoutRedis() }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-redis-tls-'));
  const log = join(folder, 'error.log');
  let authority: CertificateAuthority;
  let tls: NonNullable<TestRedisOptions['tls']>;
  let backend: TestBackend;
  let gateway: TestGateway;
  let names = 0;

  before(async () => {
    authority = new CertificateAuthority();
    const { cert, key } = authority.issue('redis.example');
    tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem'), ca: authority.file };
    writeFileSync(tls.cert, cert);
    writeFileSync(tls.key, key);
    backend = await startBackend({ handler: (_, response) => void response.end('fine') });
    gateway = await startTestGateway({
      settings: { plugins: ['rate-limiting'], workers: 1 },
      env: { KONG_PROXY_ERROR_LOG: log, KONG_LUA_SSL_TRUSTED_CERTIFICATE: authority.file },
    });
    assert.equal((await gateway.admin('POST', '/services', { name: 's', url: backend.url })).status, 201);
  });
  after(async () => {
    await gateway?.stop();
    await backend?.close();
    authority?.[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  async function limited(redis: Fields): Promise<string> {
    const name = `r${++names}`;
    const config = { policy: 'redis', year: 2, fault_tolerant: false, redis: { ssl: true, timeout: 5000, ...redis } };
    const answers = [
      await gateway.admin('POST', '/services/s/routes', { name, paths: [`/${name}`] }),
      await gateway.admin('POST', `/routes/${name}/plugins`, { name: 'rate-limiting', config }),
    ];
    for (const { status, body } of answers) assert.equal(status, 201, JSON.stringify(body));
    return `/${name}`;
  }

  async function statuses(path: string): Promise<readonly number[]> {
    const all: number[] = [];
    for (let at = 0; at < 3; at++) all.push((await fetch(`${gateway.proxyUrl}${path}`)).status);
    return all;
  }

  const logged = (pattern: RegExp): Promise<number> => until(() => pattern.test(readFileSync(log, 'utf8')));

  async function works(fields: Fields): Promise<void> {
    // The certificate is valid for the address, and for the name.
    for (const name of [{}, { server_name: 'redis.example' }]) {
      assert.deepEqual(await statuses(await limited({ ...fields, ssl_verify: true, ...name })), [200, 200, 429]);
    }
    const other = { ...fields, ssl_verify: true, server_name: 'other.example' };
    assert.deepEqual(await statuses(await limited(other)), [500, 500, 500]);
    const unverified = { ...other, ssl_verify: false };
    assert.deepEqual(await statuses(await limited(unverified)), [200, 200, 429]);
  }

  it('verifies a server', async () => {
    const redis = await startRedis({ tls });
    try {
      await works({ host: redis.host, port: redis.port });
      await logged(/other\.example/);
    } finally {
      await redis.stop();
    }
  });

  it('verifies Sentinels and the master', async () => {
    const { host, port, name, stop } = await startSentinel({ tls });
    try {
      await works({ sentinel_master: name, sentinel_role: 'any', sentinel_nodes: [{ host, port }] });
    } finally {
      await stop();
    }
  });

  it('verifies the nodes of a cluster, which need their password', async () => {
    const password = 'cluster-secret';
    const cluster = await startRedisCluster({ tls });
    try {
      for (const node of cluster.nodes) node.command('CONFIG', 'SET', 'requirepass', password);
      const seeds = { cluster_nodes: cluster.nodes.map(({ host, port }) => ({ ip: host, port })) };
      await works({ ...seeds, password });
      assert.deepEqual(await statuses(await limited({ ...seeds, password: 'wrong-secret' })), [500, 500, 500]);
      await logged(/WRONGPASS/);
      assert.doesNotMatch(readFileSync(log, 'utf8'), /-secret/);
    } finally {
      await cluster.stop();
    }
  });

  it('does not trust another authority', async () => {
    using unknown = new CertificateAuthority('unknown');
    const { cert, key } = unknown.issue('redis.example');
    const files = { cert: join(folder, 'unknown.pem'), key: join(folder, 'unknown-key.pem') };
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key);
    const redis = await startRedis({ tls: files });
    try {
      const path = await limited({ host: redis.host, port: redis.port, ssl_verify: true });
      assert.deepEqual(await statuses(path), [500, 500, 500]);
      await logged(/unable to verify|unable to get/);
    } finally {
      await redis.stop();
    }
  });
});
