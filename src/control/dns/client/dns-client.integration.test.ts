import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { skipWithoutDnsServer, startDnsServer, type TestDnsServer } from '../../../../test/support/dns-server.ts';
import { createTestClient, eventually, type TestClient, type TestClientOptions } from './dns-client.fixture.ts';

const thousand = Array.from({ length: 1000 }, (_, index) => `10.1.${index >> 8}.${index & 255}`);

describe('names are resolved by a real server', { skip: skipWithoutDnsServer() }, () => {
  let server: TestDnsServer;
  before(async () => {
    server = await startDnsServer({
      ttl: 60,
      hosts: [
        '10.0.0.1 a.test both.test short.lan.test',
        '10.0.0.2 a.test two.lan.test',
        '2001:db8::1 both.test six.test',
        '10.0.0.9 two.test',
        ...thousand.map((ip) => `${ip} many.test`),
      ],
      records: [
        'host-record=quick.test,10.0.0.5,7',
        'cname=c1.test,c2.test',
        'cname=c2.test,a.test',
        'srv-host=_http._tcp.test,a.test,8080,1,3',
        'srv-host=_http._tcp.test,two.test,8081,1,0',
        'srv-host=_http._tcp.test,six.test,8082,2,5',
        'srv-host=_none._tcp.test',
        'srv-host=_lost._tcp.test,nowhere.test,80,1,1',
        'srv-host=_part._tcp.test,nowhere.test,80,1,1',
        'srv-host=_part._tcp.test,two.test,80,1,1',
        ...thousand.map((_, index) => `srv-host=_many._tcp.test,two.test,${1000 + index},1,1`),
      ],
    });
  });
  after(() => server?.stop());
  const createClient = (options: TestClientOptions = {}): Promise<TestClient> =>
    createTestClient({ servers: [server], ...options });

  test('A records, with their TTL', async () => {
    await using dns = await createClient();
    assert.deepEqual(await dns.client.resolve('quick.test'), {
      addresses: [{ ip: '10.0.0.5', port: null, weight: null, name: 'quick.test' }],
      ttl: 7_000,
    });
    assert.deepEqual(await dns.addresses('A.Test'), ['10.0.0.1', '10.0.0.2']);
  });

  test('dns_valid_ttl takes precedence over the TTL of the records', async () => {
    await using dns = await createClient({ validTtl: 1_500 });
    assert.equal((await dns.client.resolve('quick.test')).ttl, 1_500);
  });

  test('IPv6 only when it is listed, in its place', async () => {
    await using plain = await createClient();
    assert.deepEqual(await plain.addresses('both.test'), ['10.0.0.1']);
    const failure = await plain.failure('six.test');
    assert.equal(failure.kind, 'not-found');
    assert.match(failure.message, /101 empty record received/);
    await using listed = await createClient({ order: ['A', 'AAAA'] });
    assert.deepEqual(await listed.addresses('both.test'), ['10.0.0.1']);
    assert.deepEqual(await listed.addresses('six.test'), ['2001:db8::1']);
    await using first = await createClient({ order: ['AAAA', 'A'] });
    assert.deepEqual(await first.addresses('both.test'), ['2001:db8::1']);
  });

  test('service records: the lowest priority, with port, weight and target; two addresses share their weight', async () => {
    await using dns = await createClient();
    assert.deepEqual(await dns.addresses('_http._tcp.test'), [
      '10.0.0.1:8080*3 a.test',
      '10.0.0.2:8080*3 a.test',
      '10.0.0.9:8081*2 two.test',
    ]);
  });

  test('a service without a target, or with targets that have no address, has none', async () => {
    await using dns = await createClient();
    for (const name of ['_none._tcp.test', '_lost._tcp.test']) {
      assert.equal((await dns.failure(name)).kind, 'not-found', name);
    }
    assert.deepEqual(await dns.addresses('_part._tcp.test'), ['10.0.0.9:80*1 two.test']);
    assert.ok((await dns.client.resolve('_part._tcp.test')).ttl <= 5_000, 'the missing part is queried again soon');
  });

  test('aliases are followed', async () => {
    await using dns = await createClient();
    assert.deepEqual(await dns.addresses('c1.test'), ['10.0.0.1', '10.0.0.2']);
    assert.equal((await dns.client.resolve('c1.test')).addresses[0]?.name, 'c1.test');
  });

  test('a thousand addresses, and a thousand services, come over TCP', async () => {
    await using dns = await createClient();
    assert.deepEqual(await dns.addresses('many.test'), thousand.toSorted());
    assert.equal((await dns.addresses('_many._tcp.test')).length, 1000);
    assert.equal(dns.client.counts.truncated, 2);
  });

  test('a name that does not exist', async () => {
    await using dns = await createClient();
    const failure = await dns.failure('nowhere.test');
    assert.equal(failure.kind, 'not-found');
    assert.match(
      failure.message,
      /^dns server error: 3 name error\. Tried: \["nowhere\.test:SRV - .*"nowhere\.test:A - /,
    );
  });

  test('the type that was found last time is queried first', async () => {
    await using dns = await createClient();
    const before = server.questions.length;
    await dns.client.resolve('two.test');
    await dns.client.resolve('two.test');
    assert.deepEqual(server.questions.slice(before), ['SRV two.test', 'A two.test', 'A two.test']);
  });

  test('search domains, for names with fewer dots than ndots first', async () => {
    await using dns = await createClient({ conf: 'search lan.test\noptions ndots:2\n' });
    assert.deepEqual(await dns.addresses('short'), ['10.0.0.1']);
    assert.deepEqual(await dns.addresses('two'), ['10.0.0.2']);
    const before = server.questions.length;
    assert.deepEqual(await dns.addresses('two.test'), ['10.0.0.9']);
    assert.ok(server.questions.slice(before).includes('A two.test.lan.test'));
    const end = server.questions.length;
    assert.deepEqual(await dns.addresses('two.test.'), ['10.0.0.9'], 'a final dot: no search');
    assert.deepEqual(server.questions.slice(end), ['SRV two.test', 'A two.test']);
  });

  test('the hosts file takes precedence over the server, and is read again', async () => {
    await using dns = await createClient({ hosts: '192.0.2.1 a.test # mine\n192.0.2.2 a.test\n2001:db8::7 seven\n' });
    assert.deepEqual(await dns.addresses('a.test'), ['192.0.2.1']);
    assert.deepEqual(await dns.addresses('seven'), ['2001:db8::7']);
    assert.deepEqual(await dns.addresses('localhost'), ['127.0.0.1']);
    assert.deepEqual(await dns.addresses('x.localhost'), ['127.0.0.1']);
    await dns.writeHosts('192.0.2.33 a.test\n');
    await eventually(async () => assert.deepEqual(await dns.addresses('a.test'), ['192.0.2.33']));
  });

  test('resolv.conf names the servers, and is read again', async () => {
    // Its servers have no port: this one is unreachable, which distinguishes it.
    await using dns = await createTestClient({ conf: 'nameserver 127.0.0.53\nnameserver ::1\n' });
    assert.deepEqual(await dns.client.servers(), [
      { ip: '127.0.0.53', port: 53 },
      { ip: '::1', port: 53 },
    ]);
    await dns.writeResolvConf('nameserver 127.0.0.54\n');
    await eventually(async () => assert.deepEqual(await dns.client.servers(), [{ ip: '127.0.0.54', port: 53 }]));
  });

  test('addresses resolve to themselves; an invalid name is not queried', async () => {
    await using dns = await createClient();
    const before = server.questions.length;
    assert.deepEqual(await dns.addresses('10.9.8.7'), ['10.9.8.7']);
    assert.deepEqual(await dns.addresses('2001:db8::2'), ['2001:db8::2']);
    for (const name of [
      '',
      '.',
      'a..test',
      `${'x'.repeat(64)}.test`,
      'ä.test',
      'a b.test',
      `${'x.'.repeat(130)}test`,
    ]) {
      assert.equal((await dns.failure(name)).kind, 'not-found', JSON.stringify(name));
    }
    assert.equal(server.questions.length, before);
  });

  test('a server that hangs is skipped, and queried last from then on', async () => {
    const hung = await startDnsServer();
    try {
      hung.hang();
      await using dns = await createTestClient({ servers: [hung, server], conf: 'options timeout:1\n' });
      assert.deepEqual(await dns.addresses('two.test'), ['10.0.0.9']);
      assert.equal(dns.client.counts.timeouts, 1);
      assert.deepEqual(await dns.addresses('a.test'), ['10.0.0.1', '10.0.0.2']);
      assert.equal(dns.client.counts.timeouts, 1);
    } finally {
      await hung.stop();
    }
  });

  test('an unreachable server is skipped at once', async () => {
    const gone = await startDnsServer();
    await gone.stop();
    await using dns = await createTestClient({ servers: [gone, server] });
    assert.deepEqual(await dns.addresses('two.test'), ['10.0.0.9']);
    await using alone = await createTestClient({ servers: [gone] });
    const failure = await alone.failure('two.test');
    assert.equal(failure.kind, 'failed');
    assert.match(failure.message, new RegExp(`no usable answer from server ${gone.address}.*ECONNREFUSED`));
  });

  test('with rotate the servers are queried round-robin', async () => {
    const second = await startDnsServer({ hosts: ['10.0.0.9 two.test'] });
    try {
      await using dns = await createTestClient({ servers: [server, second], order: ['A'], conf: 'options rotate\n' });
      for (let index = 0; index < 6; index++) await dns.addresses('two.test');
      assert.equal(second.questions.length, 3);
    } finally {
      await second.stop();
    }
  });

  test('close aborts queries in progress', async () => {
    const hung = await startDnsServer();
    try {
      hung.hang();
      await using dns = await createTestClient({ servers: [hung] });
      const failure = dns.failure('two.test');
      await eventually(() => assert.equal(dns.client.counts.queries, 1));
      dns.client.close();
      assert.match((await failure).message, /closed/);
    } finally {
      await hung.stop();
    }
  });
});
