import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../src/control/dns/client/dns-client.fixture.ts';
import { addressRecord, answerTo, startHostileServer } from '../../src/control/dns/client/hostile-server.fixture.ts';
import { skipWithoutDnsServer, startDnsServer, type TestDnsServer } from '../support/dns-server.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/** Case 34: faults of name servers do not reach clients. The backend listens on every loopback address and reports which one was used. */
const thousand = Array.from({ length: 1000 }, (_, index) => `127.1.${index >> 8}.${index & 255}`);

interface Setup extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly backendPort: number;
  service(name: string, host: string): Promise<void>;
  upstream(name: string, target: string, fields?: object): Promise<void>;
  /** The address, port and Host that the backend saw; the status when it is not 200. */
  ask(
    name: string,
  ): Promise<{ readonly status: number; readonly at: string; readonly host: string; readonly text: string }>;
  /** So many requests; the addresses that answered them, each once. All must be answered with 200. */
  spread(name: string, requests: number): Promise<readonly string[]>;
  /** `status` and `addresses` of a name on `/status/dns`. */
  known(name: string): Promise<{ readonly status: string; readonly addresses: readonly string[] }>;
}

interface Backend {
  readonly port: number;
  close(): void;
}

async function startBackend(): Promise<Backend> {
  const server = createServer(({ socket, headers }, response) => {
    response.end(JSON.stringify({ at: `${socket.localAddress}:${socket.localPort}`, host: headers.host }));
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function setUp(dns: string, env: Readonly<Record<string, string>> = {}): Promise<Setup> {
  const backend = await startBackend();
  const gateway = await startTestGateway({
    env: { KONG_DNS_RESOLVER: dns, KONG_DNS_HOSTSFILE: '/dev/null', KONG_NGINX_WORKER_PROCESSES: '2', ...env },
  });
  const write = async (method: string, path: string, body: unknown): Promise<void> => {
    const { status, body: answer } = await gateway.admin(method, path, body);
    assert.ok(status < 300, `${path}: ${JSON.stringify(answer)}`);
  };
  const setup: Setup = {
    gateway,
    backendPort: backend.port,
    async service(name, host) {
      await write('PUT', `/services/${name}`, { host, port: backend.port, retries: 0 });
      await write('PUT', `/services/${name}/routes/${name}`, { paths: [`/${name}`] });
    },
    async upstream(name, target, fields = {}) {
      await write('PUT', `/upstreams/${name}.upstream`, fields);
      await write('POST', `/upstreams/${name}.upstream/targets`, { target });
      await setup.service(name, `${name}.upstream`);
    },
    async ask(name) {
      const response = await fetch(`${gateway.proxyUrl}/${name}`, { headers: { Connection: 'close' } });
      const text = await response.text();
      const { at = '', host = '' } = response.status === 200 ? JSON.parse(text) : {};
      return { status: response.status, at, host, text };
    },
    async spread(name, requests) {
      const seen = new Set<string>();
      for (let index = 0; index < requests; index++) {
        const { status, at, text } = await setup.ask(name);
        assert.equal(status, 200, text);
        seen.add(at.replace(`:${backend.port}`, ''));
      }
      return [...seen].sort();
    },
    async known(name) {
      const response = await fetch(`${gateway.statusUrl}/status/dns`);
      const { names } = (await response.json()) as {
        names: Record<string, { status: string; addresses: { ip: string }[] }>;
      };
      const { status = 'unknown', addresses = [] } = names[name] ?? {};
      return { status, addresses: addresses.map(({ ip }) => ip) };
    },
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      backend.close();
    },
  };
  return setup;
}

describe('names resolved by a real name server', { skip: skipWithoutDnsServer() }, () => {
  let dns: TestDnsServer;
  let setup: Setup;
  const hosts = ['127.0.0.2 a.test', '127.0.0.3 a.test', ...thousand.map((ip) => `${ip} many.test`)];

  before(async () => {
    dns = await startDnsServer({
      ttl: 1,
      hosts,
      records: ['host-record=zero.test,127.0.0.5,0', 'cname=alias.test,a.test'],
    });
    setup = await setUp(dns.address);
  });
  after(async () => {
    await setup?.[Symbol.asyncDispose]();
    await dns?.stop();
  });

  it('use every address of the name in rotation, also through an alias', async () => {
    await setup.service('a', 'a.test');
    await setup.service('alias', 'alias.test');
    for (const name of ['a', 'alias']) assert.deepEqual(await setup.spread(name, 10), ['127.0.0.2', '127.0.0.3']);
  });

  it('get new addresses in the background, and no request fails meanwhile', async () => {
    await setup.service('a', 'a.test');
    await setup.spread('a', 4);
    await dns.setHosts([...hosts.slice(2), '127.0.0.9 a.test']);
    await eventually(async () => assert.deepEqual((await setup.known('a.test')).addresses, ['127.0.0.9']));
    await eventually(async () => assert.deepEqual(await setup.spread('a', 6), ['127.0.0.9']));
    await dns.setHosts(hosts);
  });

  it('are not looked up for each request when the TTL is 0', async () => {
    await setup.service('zero', 'zero.test');
    await setup.spread('zero', 1);
    const before = dns.questions.filter((question) => question.endsWith('zero.test')).length;
    const begin = performance.now();
    await setup.spread('zero', 50);
    const asked = dns.questions.filter((question) => question.endsWith('zero.test')).length - before;
    assert.ok(asked <= 2 + (performance.now() - begin) / 1_000, `${asked} questions for 50 requests`);
  });

  it('work with a thousand addresses', async () => {
    await setup.service('many', 'many.test');
    // Each of two workers rotates from a random address, so both may use the same ones.
    assert.ok((await setup.spread('many', 60)).length >= 30);
  });

  it('work with a thousand addresses in a target', async () => {
    await setup.upstream('targets', `many.test:${setup.backendPort}`);
    assert.ok((await setup.spread('targets', 60)).length >= 30);
  });

  it('answer 503 when the name does not exist', async () => {
    await setup.service('later', 'later.test');
    const { status, text } = await setup.ask('later');
    assert.deepEqual([status, JSON.parse(text).message], [503, 'name resolution failed']);
  });
});

describe('a name that appears and a name server that stops', { skip: skipWithoutDnsServer() }, () => {
  it('serves a name as soon as it exists', async () => {
    const dns = await startDnsServer({ ttl: 1 });
    try {
      await using setup = await setUp(dns.address, { KONG_DNS_NOT_FOUND_TTL: '1' });
      await setup.service('later', 'later.test');
      await setup.upstream('target', `later.test:${setup.backendPort}`);
      for (const name of ['later', 'target']) assert.equal((await setup.ask(name)).status, 503);
      await dns.setHosts(['127.0.0.4 later.test']);
      for (const name of ['later', 'target']) {
        await eventually(async () => assert.equal((await setup.ask(name)).at, `127.0.0.4:${setup.backendPort}`));
      }
    } finally {
      await dns.stop();
    }
  });

  it('continues with the old addresses while the name server is down, and reconnects', async () => {
    const dns = await startDnsServer({ ttl: 1, hosts: ['127.0.0.4 a.test'] });
    try {
      await using setup = await setUp(dns.address);
      await setup.service('a', 'a.test');
      await setup.upstream('target', `a.test:${setup.backendPort}`);
      await setup.spread('a', 2);
      await setup.spread('target', 2);
      await dns.kill();
      await eventually(async () => assert.equal((await setup.known('a.test')).status, 'stale'));
      assert.deepEqual(await setup.spread('a', 10), ['127.0.0.4']);
      assert.deepEqual(await setup.spread('target', 10), ['127.0.0.4']);
      await dns.restart();
      await eventually(async () => assert.equal((await setup.known('a.test')).status, 'fresh'), 15_000);
    } finally {
      await dns.stop();
    }
  });
});

describe('SRV records', { skip: skipWithoutDnsServer() }, () => {
  it('set port and weight, and the Host with use_srv_name', async () => {
    const backends = await Promise.all([startBackend(), startBackend()]);
    const [portA, portB] = backends.map(({ port }) => port);
    const dns = await startDnsServer({
      hosts: ['127.0.0.2 b.test', '127.0.0.3 c.test', '127.0.0.4 d.test'],
      records: [
        `srv-host=_s._tcp.test,b.test,${portA},1,3`,
        `srv-host=_s._tcp.test,c.test,${portB},1,1`,
        `srv-host=_s._tcp.test,d.test,${portB},2,9`,
      ],
    });
    try {
      await using setup = await setUp(dns.address);
      await setup.service('plain', '_s._tcp.test');
      await setup.upstream('target', '_s._tcp.test:1', { use_srv_name: true });
      for (const name of ['plain', 'target']) {
        const counts = new Map<string, number>();
        const answers = await Promise.all(Array.from({ length: 80 }, () => setup.ask(name)));
        for (const { at } of answers) counts.set(at, (counts.get(at) ?? 0) + 1);
        assert.deepEqual([...counts.keys()].sort(), [`127.0.0.2:${portA}`, `127.0.0.3:${portB}`], name);
        const share = (counts.get(`127.0.0.2:${portA}`) ?? 0) / 80;
        assert.ok(share > 0.65 && share < 0.85, `${name}: ${share}`);
        if (name === 'target') {
          assert.deepEqual([...new Set(answers.map(({ host }) => host.split(':')[0]))].sort(), ['b.test', 'c.test']);
        }
      }
    } finally {
      await dns.stop();
      for (const backend of backends) backend.close();
    }
  });
});

describe('a name server that fails after a success', () => {
  it('leaves the old addresses in use on SERVFAIL, garbage and silence', async () => {
    let mode = 'good';
    let ip = '127.0.0.4';
    await using dns = await startHostileServer(({ message, name, reply }) => {
      const good = answerTo(message, { answers: [addressRecord(name, ip, 1)] });
      if (mode === 'good') reply(good);
      else if (mode === 'SERVFAIL') reply(answerTo(message, { code: 2 }));
      else if (mode === 'garbage') reply(good.subarray(0, -3));
    });
    await using setup = await setUp(`127.0.0.1:${dns.port}`);
    await setup.service('a', 'a.test');
    await setup.spread('a', 2);
    for (const failure of ['SERVFAIL', 'garbage', 'silence']) {
      mode = failure;
      await eventually(async () => assert.equal((await setup.known('a.test')).status, 'stale', failure), 15_000);
      assert.deepEqual(await setup.spread('a', 10), ['127.0.0.4'], failure);
      mode = 'good';
      await eventually(async () => assert.equal((await setup.known('a.test')).status, 'fresh', failure), 15_000);
    }
    ip = '127.0.0.5';
    await eventually(async () => assert.deepEqual(await setup.spread('a', 4), ['127.0.0.5']));
  });
});
