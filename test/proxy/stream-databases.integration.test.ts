import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import pg from 'pg';
import { skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { skipWithoutRedis, startRedis } from '../support/redis.ts';
import { selfSigned } from '../support/self-signed.ts';
import { startStreamRig } from '../support/stream-rig.ts';

describe('databases behind a stream listener', () => {
  it('forwards PostgreSQL by port', { skip: skipWithoutPostgres() }, async () => {
    const postgres = await startPostgres();
    await using rig = await startStreamRig(['']);
    await rig.route('database', { port: postgres.port }, { destinations: [{ port: rig.ports[0] }] });
    const client = new pg.Client({ ...postgres, port: rig.ports[0]! });
    await client.connect();
    const { rows } = await client.query("select repeat('x', 1000000) as text, $1::int as number", [7]);
    assert.equal(rows[0].text.length, 1_000_000);
    assert.equal(rows[0].number, 7);
    await client.end();
    await postgres.stop();
  });

  it('forwards Redis by server name, with TLS terminated in front of it', { skip: skipWithoutRedis() }, async () => {
    const redis = await startRedis();
    const own = selfSigned('redis.test');
    await using rig = await startStreamRig(['ssl'], { sslCert: [own.cert], sslCertKey: [own.key] });
    await rig.route('cache', { port: redis.port }, { protocols: ['tls'], snis: ['redis.test'] });
    const tls = { servername: 'redis.test', ca: own.cert };
    const client = new Redis({ host: '127.0.0.1', port: rig.ports[0]!, tls, maxRetriesPerRequest: 0 });
    await client.set('key', 'value');
    assert.equal(await client.get('key'), 'value');
    assert.equal(execFileSync('redis-cli', ['-p', String(redis.port), 'get', 'key'], { encoding: 'utf8' }), 'value\n');
    client.disconnect();
    await redis.stop();
  });
});
