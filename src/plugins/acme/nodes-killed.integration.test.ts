import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { skipWithoutDnsServer, startDnsServer, type TestDnsServer } from '../../../test/support/dns-server.ts';
import { type GatewayProcess, startGatewayProcess } from '../../../test/support/gateway-process.ts';
import {
  type PebbleIdentity,
  pebbleIdentity,
  skipWithoutPebble,
  startPebble,
  type TestPebble,
} from '../../../test/support/pebble.ts';
import { postgresEnv, skipWithoutPostgres, startPostgres, type TestPostgres } from '../../../test/support/postgres.ts';
import { until } from '../../../test/support/until.ts';
import { openTls } from './acme.fixture.ts';

const skip = skipWithoutPebble() || skipWithoutDnsServer() || skipWithoutPostgres();

/** README: another node orders within this time after the one that did has died, in milliseconds. */
const takeOverTime = 45_000;

/** Three processes; the authority reaches them through a balancer that takes the next one for each connection. */
describe('three nodes that share a database', { skip }, () => {
  let server: TestPostgres;
  let dns: TestDnsServer;
  let identity: PebbleIdentity;
  let pebble: TestPebble;
  let balancer: Server;
  const nodes: GatewayProcess[] = [];
  const prefixes: string[] = [];
  const alive = (): readonly GatewayProcess[] => nodes.filter(({ child }) => child.signalCode === null);
  const portOf = (node: GatewayProcess): number => Number(new URL(node.url('proxy')).port);

  before(async () => {
    [server, dns] = await Promise.all([startPostgres(), startDnsServer({ records: ['address=/acme.test/127.0.0.1'] })]);
    identity = pebbleIdentity();
    let turn = 0;
    balancer = createServer((client) => {
      const living = alive();
      const node = living[turn++ % living.length];
      const backend = connect({ host: '127.0.0.1', port: node === undefined ? 0 : portOf(node) });
      for (const socket of [client, backend]) socket.on('error', () => socket.destroy());
      client.pipe(backend).pipe(client);
    }).listen(0, '127.0.0.1');
    await once(balancer, 'listening');
    // All at once: they also create the tables together.
    for (let number = 0; number < 3; number++) nodes.push(startNode());
    await Promise.all(nodes.map((node) => node.started()));
    const httpPort = (balancer.address() as { port: number }).port;
    pebble = await startPebble({ identity, httpPort, tlsPort: httpPort, dns: dns.address });
    const answer = await fetch(`${nodes[0]?.url('admin')}/plugins`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'acme',
        config: {
          account_email: 'ada@acme.test',
          api_uri: pebble.directory,
          tos_accepted: true,
          cert_type: 'ecc',
          domains: ['*.acme.test'],
        },
      }),
    });
    assert.equal(answer.status, 201, await answer.text());
    for (const node of nodes) {
      await until(async () => {
        const { data } = (await (await fetch(`${node.url('admin')}/acme/certificates`)).json()) as { data?: unknown };
        const { status } = await fetch(`${node.url('proxy')}/.well-known/acme-challenge/x`, {
          headers: { host: 'x.acme.test' },
        });
        return data !== undefined && status === 404;
      });
    }
  });
  after(async () => {
    for (const node of nodes) await node[Symbol.asyncDispose]();
    balancer?.close();
    await pebble?.stop();
    await Promise.all([server?.stop(), dns?.stop()]);
    for (const prefix of prefixes) rmSync(prefix, { recursive: true, force: true });
  });

  function startNode(): GatewayProcess {
    const prefix = mkdtempSync(join(tmpdir(), 'sluicegate-acme-'));
    prefixes.push(prefix);
    return startGatewayProcess(prefix, {
      ...postgresEnv(server),
      KONG_LUA_SSL_TRUSTED_CERTIFICATE: identity.cert,
      KONG_PROXY_LISTEN: '127.0.0.1:0, 127.0.0.1:0 ssl',
    });
  }

  function tlsPortOf(node: GatewayProcess): number {
    const port = /https:\/\/127\.0\.0\.1:(\d+)/.exec(node.output())?.[1];
    assert.ok(port !== undefined, node.output());
    return Number(port);
  }

  async function serialOf(node: GatewayProcess, host: string): Promise<string | null> {
    const { socket, certificate } = await openTls(tlsPortOf(node), host);
    socket.destroy();
    return String(certificate.issuer.CN).startsWith('Pebble') ? certificate.serialNumber : null;
  }

  /** The same certificate on all nodes that are alive. */
  async function haveOne(host: string, milliseconds: number): Promise<void> {
    await until(async () => {
      const serials = await Promise.all(alive().map((node) => serialOf(node, host)));
      return serials.every((serial) => serial !== null && serial === serials[0]);
    }, milliseconds);
  }

  const count = (text: string): number => pebble.lines.filter((line) => line.includes(text)).length;

  /** Which node has the lease of a host. */
  async function ordering(host: string): Promise<GatewayProcess | null> {
    const client = new pg.Client({ ...server });
    await client.connect();
    try {
      const { rows } = await client.query('select body from acme_storage where key = $1', [`lease:${host}`]);
      const id = /"node\\?":\\?"([0-9a-f-]{36})/.exec(JSON.stringify(rows[0]?.body ?? '').replaceAll('\\', ''))?.[1];
      if (id === undefined) return null;
      for (const node of nodes) {
        const answer = (await (await fetch(node.url('admin'))).json()) as { readonly node_id: string };
        if (answer.node_id === id) return node;
      }
      return null;
    } finally {
      await client.end();
    }
  }

  it('order once when clients ask all of them at the same time', async () => {
    await Promise.all([...nodes, ...nodes].map((node) => serialOf(node, 'a.acme.test')));
    await haveOne('a.acme.test', 30_000);
    assert.deepEqual([count('Added order '), count('Issued certificate')], [1, 1]);
  });

  it('continue when the one that orders is killed, and still get one certificate', async (t) => {
    pebble.hang();
    await Promise.all(nodes.map((node) => serialOf(node, 'b.acme.test')));
    let holder: GatewayProcess | null = null;
    await until(async () => {
      holder = await ordering('b.acme.test');
      return holder !== null;
    });
    const killed = holder as GatewayProcess | null;
    killed?.child.kill('SIGKILL');
    await killed?.exit;
    const began = performance.now();
    pebble.resume();
    assert.equal(alive().length, 2);
    await haveOne('b.acme.test', takeOverTime);
    t.diagnostic(`another node has ordered after ${Math.round((performance.now() - began) / 1000)} s`);
    assert.equal(count('Issued certificate'), 2, 'one for each host');
  });
});
