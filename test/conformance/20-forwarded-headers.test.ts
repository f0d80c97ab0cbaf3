import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { kongVersion } from '../../src/version.ts';
import { exchangeOne, openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 20: forwarding headers count only when a trusted peer sends them. */
const claimed =
  'X-Forwarded-Proto: https\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Port: 8443\r\nX-Forwarded-Path: /evil\r\n' +
  'X-Forwarded-Prefix: /evil\r\nX-Real-IP: 198.51.100.9\r\nForwarded: for=198.51.100.9;proto=https;host=evil.example\r\n';

describe('forwarding headers of an untrusted peer', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig();
    await rig.write('PUT', '/services/backend/routes/allowed', { paths: ['/allowed'], strip_path: false });
    await rig.write('POST', '/routes/allowed/plugins', { name: 'ip-restriction', config: { allow: ['198.51.100.9'] } });
    await rig.write('PUT', '/services/backend/routes/secure', { paths: ['/secure'], protocols: ['https'] });
  });
  after(() => rig.close());

  it('are replaced by the values of the connection', async () => {
    const response = await exchangeOne(
      rig.port,
      `GET /path HTTP/1.1\r\nHost: Example.com:1234\r\nX-Forwarded-For: 198.51.100.9\r\n${claimed}\r\n`,
    );
    assert.equal(response.status, 200);
    const request = rig.backend.requests.at(-1);
    assert.deepEqual(request?.all('x-forwarded-for'), ['198.51.100.9, 127.0.0.1']);
    assert.deepEqual(request?.all('x-forwarded-proto'), ['http']);
    assert.deepEqual(request?.all('x-forwarded-host'), ['example.com']);
    assert.deepEqual(request?.all('x-forwarded-port'), [String(rig.port)]);
    assert.deepEqual(request?.all('x-forwarded-path'), ['/path']);
    assert.deepEqual(request?.all('x-forwarded-prefix'), []);
    assert.deepEqual(request?.all('x-real-ip'), ['127.0.0.1']);
    // The gateway does not set this one, so it is removed.
    assert.deepEqual(request?.all('forwarded'), []);
  });

  it('are removed when spelled with underscores', async () => {
    await exchangeOne(
      rig.port,
      `GET / HTTP/1.1\r\nHost: a\r\n${claimed.replaceAll('X-Forwarded-', 'X_Forwarded_')}\r\n`,
    );
    assert.doesNotMatch(rig.backend.requests.at(-1)?.raw ?? '', /x_forwarded/i);
  });

  it('are those of each request on a connection, whatever the ones before had', async () => {
    using client = await openClient(rig.port);
    const heads = [
      ['One.example', ''],
      ['one.example:99', ''],
      ['two.example', 'X-Forwarded-For: 198.51.100.9\r\n'],
      ['two.example', ''],
      ['One.example', 'Via: 1.1 other\r\n'],
      ['One.example', ''],
    ] as const;
    for (const [at, [host, lines]] of heads.entries()) {
      client.write(`GET /${at} HTTP/1.1\r\nHost: ${host}\r\n${lines}\r\n`);
      assert.equal((await client.readResponse()).status, 200);
      const request = rig.backend.requests.at(-1);
      const chain = lines.startsWith('X-') ? '198.51.100.9, 127.0.0.1' : '127.0.0.1';
      assert.deepEqual(request?.all('x-forwarded-for'), [chain]);
      assert.deepEqual(request?.all('x-forwarded-host'), [host.toLowerCase().replace(/:.*/, '')]);
      assert.deepEqual(request?.all('x-forwarded-path'), [`/${at}`]);
      assert.deepEqual(request?.all('x-real-ip'), ['127.0.0.1']);
      assert.deepEqual(request?.all('via'), [`${lines.startsWith('Via') ? '1.1 other, ' : ''}1.1 kong/${kongVersion}`]);
    }
  });

  it('do not pass an IP allow list', async () => {
    const response = await exchangeOne(
      rig.port,
      `GET /allowed HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 198.51.100.9\r\n${claimed}\r\n`,
    );
    assert.equal(response.status, 403);
  });

  it('do not count as TLS', async () => {
    const response = await exchangeOne(rig.port, `GET /secure HTTP/1.1\r\nHost: a\r\n${claimed}\r\n`);
    assert.equal(response.status, 426);
  });
});

describe('forwarding headers of a trusted peer', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      settings: {
        trustedIps: ['127.0.0.1', '10.0.0.0/8', '2001:db8::/32'],
        realIpHeader: 'X-Forwarded-For',
        realIpRecursive: true,
      },
    });
    await rig.write('PUT', '/services/backend/routes/denied', { paths: ['/denied'], strip_path: false });
    await rig.write('POST', '/routes/denied/plugins', { name: 'ip-restriction', config: { deny: ['203.0.113.7'] } });
    await rig.write('PUT', '/services/backend/routes/secure', { paths: ['/secure'], protocols: ['https'] });
  });
  after(() => rig.close());

  const hops = ['203.0.113.7', ...Array.from({ length: 9 }, (_, index) => `10.0.0.${index + 1}`)].join(', ');

  it('are kept', async () => {
    await exchangeOne(rig.port, `GET /path HTTP/1.1\r\nHost: a\r\n${claimed}\r\n`);
    const request = rig.backend.requests.at(-1);
    assert.equal(request?.get('x-forwarded-proto'), 'https');
    assert.equal(request?.get('x-forwarded-host'), 'evil.example');
    assert.equal(request?.get('x-forwarded-port'), '8443');
    assert.equal(request?.get('x-forwarded-path'), '/evil');
    assert.equal(request?.get('x-forwarded-prefix'), '/evil');
    assert.equal(request?.get('forwarded'), 'for=198.51.100.9;proto=https;host=evil.example');
  });

  it('name the right-most untrusted of ten hops as the client', async () => {
    await exchangeOne(rig.port, `GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.1.1.1, ${hops}\r\n\r\n`);
    assert.equal(rig.backend.requests.at(-1)?.get('x-real-ip'), '203.0.113.7');
    const denied = await exchangeOne(
      rig.port,
      `GET /denied HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.1.1.1, ${hops}\r\n\r\n`,
    );
    assert.equal(denied.status, 403);
  });

  it('are one list when sent in several lines', async () => {
    await exchangeOne(
      rig.port,
      'GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.1.1.1\r\nX-Forwarded-For: 203.0.113.7\r\nX-Forwarded-For: 10.0.0.1\r\n\r\n',
    );
    const request = rig.backend.requests.at(-1);
    assert.equal(request?.get('x-real-ip'), '203.0.113.7');
    assert.match(request?.get('x-forwarded-for') ?? '', /^1\.1\.1\.1, 203\.0\.113\.7, 10\.0\.0\.1, /);
  });

  it('end at the first entry that is not an address', async () => {
    await exchangeOne(
      rig.port,
      'GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.7, <script>, 10.0.0.1\r\n\r\n',
    );
    assert.match(rig.backend.requests.at(-1)?.get('x-real-ip') ?? '', /^(?:10\.0\.0\.1|127\.0\.0\.1)$/);
  });

  it('count as TLS', async () => {
    const response = await exchangeOne(rig.port, 'GET /secure HTTP/1.1\r\nHost: a\r\nX-Forwarded-Proto: https\r\n\r\n');
    assert.equal(response.status, 200);
  });
});
