import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { CertificateAuthority } from '../support/certificate-authority.ts';
import { openHttp2 } from '../support/http2-client.ts';
import { answer, answerEach } from '../support/raw-backend.ts';
import { type Json, startWhatIfRig, summary, type WhatIfRig } from './what-if-rig.fixture.ts';

/** What each kind of change would do to requests that were really sent. */

let rig: WhatIfRig;

before(async () => {
  rig = await startWhatIfRig({
    script: answerEach(({ target, connection }) => {
      if (!target.includes('/teapot')) return answer(`served ${target}`);
      connection.end('HTTP/1.1 418 Teapot\r\nContent-Length: 0\r\n\r\n');
      return null;
    }),
    env: {
      KONG_PROXY_LISTEN: '127.0.0.1:0, 127.0.0.1:0 http2 ssl',
      KONG_TRUSTED_IPS: '127.0.0.1',
      KONG_REAL_IP_HEADER: 'X-Real-IP',
    },
    route: { paths: ['/users'] },
  });
  await rig.write('PUT', '/services/other', { url: `${rig.backend.url}/v2` });
  await rig.write('PUT', '/services/other/routes/open', { paths: ['/open'], strip_path: false });
  await rig.write('PUT', '/services/guarded', { url: rig.backend.url });
  await rig.write('PUT', '/services/guarded/routes/guarded', { paths: ['/guarded'] });
  await rig.write('PUT', '/plugins/6f1b1b1e-5b3c-4b7e-9a53-6a6f6b0a0001', {
    name: 'key-auth',
    route: { name: 'guarded' },
  });
  await rig.write('PUT', '/consumers/ann');
  await rig.write('POST', '/consumers/ann/key-auth', { key: 'key-of-ann' });
});
after(() => rig.close());
beforeEach(() => rig.forget());

const authorityId = '6f1b1b1e-5b3c-4b7e-9a53-6a6f6b0a0002';

const addToUsers = (name: string, config: object = {}) => ({
  method: 'POST',
  path: '/routes/all/plugins',
  body: { name, config },
});

describe('POST /what-if', () => {
  it('refuses exactly the requests without a valid key when key-auth is added', async () => {
    for (let count = 0; count < 3; count++) await rig.send('/users/1', 'apikey: key-of-ann\r\n');
    await rig.send('/users/1', 'apikey: wrong\r\n');
    await rig.send('/users/1');
    await rig.send('/open');
    await rig.kept(6);
    const report = await rig.whatIf([addToUsers('key-auth')]);
    assert.deepEqual(summary(report), ['2: 200 backend of all -> 401 key-auth of all']);
    const { requests, refused, admitted, rerouted, changed, undecided, note } = report;
    assert.deepEqual([requests.kept, requests.replayed, requests.undecided], [6, 6, 0]);
    assert.deepEqual([refused, admitted, rerouted, changed, undecided, note], [2, 0, 0, 2, [], null]);
    assert.ok(Date.parse(requests.from) <= Date.parse(requests.to));
    const [group] = report.groups;
    assert.match(group.after.reason, /^The plugin key-auth answered 401: /);
    assert.equal(group.examples.length, 2);
    const example = await rig.gateway.admin('GET', `/traffic/${group.examples[0]}`);
    assert.deepEqual([example.body['status'], example.body['path']], [200, '/users/1']);
    assert.doesNotMatch(JSON.stringify(report), /key-of-ann/);
  });

  it('tries a rollback to a version, and leaves the config as it is', async () => {
    const [before] = (await rig.gateway.admin('GET', '/config/versions?size=1')).body['data'] as Json[];
    await rig.write('PATCH', '/routes/open', { paths: ['/open', '/since-then'] });
    await rig.send('/open');
    await rig.send('/since-then');
    await rig.kept(2);
    const { status, body } = await rig.gateway.admin('POST', '/what-if', { version: before.version });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body['changed'], body['refused']], [1, 1]);
    assert.equal(await rig.send('/since-then'), 200);
    assert.equal((await rig.gateway.admin('POST', '/what-if', { version: 99_999_999 })).status, 404);
    assert.equal((await rig.gateway.admin('POST', '/what-if', { version: -1 })).status, 400);
    await rig.write('PATCH', '/routes/open', { paths: ['/open'] });
  });

  it('looks a key up that the change itself creates, and one that it deletes', async () => {
    await rig.send('/users/1', 'apikey: key-of-bob\r\n');
    await rig.send('/users/1', 'apikey: key-of-ann\r\n');
    await rig.kept(2);
    const report = await rig.whatIf([
      addToUsers('key-auth'),
      { method: 'PUT', path: '/consumers/bob' },
      { method: 'POST', path: '/consumers/bob/key-auth', body: { key: 'key-of-bob' } },
      { method: 'DELETE', path: '/consumers/ann' },
    ]);
    assert.deepEqual(summary(report), ['1: 200 backend of all -> 401 key-auth of all']);
    const example = await rig.gateway.admin('GET', `/traffic/${report.groups[0].examples[0]}`);
    const seen = (await rig.gateway.admin('GET', '/traffic')).body['data'] as Json[];
    assert.equal(example.body['id'], seen.toSorted((a, b) => (a.at < b.at ? 1 : -1))[0].id);
  });

  it('admits requests when a plugin is removed, without a guess about the backend', async () => {
    assert.equal(await rig.send('/guarded'), 401);
    assert.equal(await rig.send('/guarded', 'apikey: key-of-ann\r\n'), 200);
    await rig.kept(2);
    const report = await rig.whatIf([{ method: 'DELETE', path: '/plugins/6f1b1b1e-5b3c-4b7e-9a53-6a6f6b0a0001' }]);
    assert.deepEqual(summary(report), ['1: 401 key-auth of guarded -> null backend of guarded']);
    assert.deepEqual([report.refused, report.admitted], [0, 1]);
    assert.match(report.groups[0].after.reason, /would reach the backend/);
  });

  it('counts a limit by the time of the requests', async () => {
    const minute = Math.floor(Date.now() / 60_000);
    for (let count = 0; count < 8; count++) await rig.send('/users/1');
    const crossed = Math.floor(Date.now() / 60_000) !== minute;
    await rig.kept(8);
    const report = await rig.whatIf([addToUsers('rate-limiting', { minute: 5, policy: 'local' })]);
    if (!crossed) assert.deepEqual(summary(report), ['3: 200 backend of all -> 429 rate-limiting of all']);
    assert.ok(report.refused <= 3);
    const again = await rig.whatIf([addToUsers('rate-limiting', { minute: 5, policy: 'local' })]);
    assert.deepEqual(summary(again), summary(report), 'the counters of a dry run are its own');
    const cluster = await rig.whatIf([addToUsers('rate-limiting', { minute: 5, policy: 'cluster' })]);
    assert.deepEqual(summary(cluster), summary(report));
  });

  it('sees the address of each client', async () => {
    await rig.send('/users/1', 'X-Real-IP: 10.1.2.3\r\n');
    await rig.send('/users/1', 'X-Real-IP: 10.9.9.9\r\n');
    await rig.kept(2);
    const report = await rig.whatIf([addToUsers('ip-restriction', { deny: ['10.1.0.0/16'] })]);
    assert.deepEqual(summary(report), ['1: 200 backend of all -> 403 ip-restriction of all']);
  });

  it('checks passwords', async () => {
    await rig.write('POST', '/consumers/ann/basic-auth', { username: 'ann', password: 'right' });
    const login = (password: string): string =>
      `Authorization: Basic ${Buffer.from(`ann:${password}`).toString('base64')}\r\n`;
    await rig.send('/users/1', login('right'));
    await rig.send('/users/1', login('wrong'));
    await rig.kept(2);
    const report = await rig.whatIf([addToUsers('basic-auth')]);
    assert.deepEqual(summary(report), ['1: 200 backend of all -> 401 basic-auth of all']);
    assert.equal(report.requests.undecided, 0);
  });

  it('knows how a request came: over HTTP/2 and TLS, with its server name', async () => {
    await rig.send('/users/1');
    await using client = await openHttp2(rig.gateway.proxyTlsPort, true);
    assert.equal((await client.request('/users/2', { headers: { ':authority': 'a.test' } })).status, 200);
    rig.count(1);
    await rig.kept(2);
    const https = await rig.whatIf([{ method: 'PATCH', path: '/routes/all', body: { protocols: ['https'] } }]);
    assert.deepEqual(summary(https), ['1: 200 backend of all -> 426 gateway of all']);
    const names = (snis: readonly string[]) =>
      rig.whatIf([{ method: 'PATCH', path: '/routes/all', body: { protocols: ['https'], snis } }]);
    assert.deepEqual(summary(await names(['b.test'])), [
      '1: 200 backend of all -> 404 gateway of no route',
      '1: 200 backend of all -> 426 gateway of all',
    ]);
    using authority = new CertificateAuthority();
    const certificate = await rig.whatIf([
      { method: 'POST', path: '/ca_certificates', body: { id: authorityId, cert: authority.cert } },
      addToUsers('mtls-auth', { ca_certificates: [authorityId] }),
    ]);
    assert.ok(
      certificate.undecided.some(({ reason }: Json) => /had not requested/.test(reason)),
      JSON.stringify(certificate),
    );
  });

  it('finds no route when the route is deleted, and says which is nearest', async () => {
    await rig.send('/users/1');
    await rig.send('/open');
    await rig.kept(2);
    const report = await rig.whatIf([{ method: 'DELETE', path: '/routes/all' }]);
    assert.deepEqual(summary(report), ['1: 200 backend of all -> 404 gateway of no route']);
    assert.match(report.groups[0].after.reason, /^No route matched/);
  });

  it('reports requests that another route would carry', async () => {
    await rig.send('/users/1');
    await rig.send('/open/1');
    await rig.kept(2);
    const moved = await rig.whatIf([{ method: 'PATCH', path: '/routes/open', body: { paths: ['/open', '/users/1'] } }]);
    assert.deepEqual(summary(moved), ['1: 200 backend of all -> null backend of open']);
    assert.deepEqual([moved.rerouted, moved.refused, moved.changed], [1, 0, 1]);
    assert.equal(moved.groups[0].after.service.name, 'other');
    const hosts = await rig.whatIf([{ method: 'PATCH', path: '/routes/open', body: { hosts: ['other.test'] } }]);
    assert.deepEqual(summary(hosts), ['1: 200 backend of open -> 404 gateway of no route']);
    assert.match(hosts.groups[0].after.reason, /wants the host other\.test/);
    const stripped = await rig.whatIf([{ method: 'PATCH', path: '/routes/open', body: { strip_path: true } }]);
    assert.deepEqual(summary(stripped), ['1: 200 backend of open -> null backend of open']);
  });

  it('names the disabled service', async () => {
    await rig.send('/users/1');
    await rig.kept(1);
    const report = await rig.whatIf([{ method: 'PATCH', path: '/services/backend', body: { enabled: false } }]);
    assert.deepEqual(summary(report), ['1: 200 backend of all -> 404 gateway of no route']);
    assert.match(report.groups[0].after.reason, /its service is disabled/);
  });

  it('knows upstreams and their targets', async () => {
    await rig.send('/users/1');
    await rig.kept(1);
    const empty = [
      { method: 'PUT', path: '/upstreams/pool' },
      { method: 'PATCH', path: '/services/backend', body: { host: 'pool' } },
    ];
    assert.deepEqual(summary(await rig.whatIf(empty)), ['1: 200 backend of all -> 503 gateway of all']);
    const target = { method: 'POST', path: '/upstreams/pool/targets', body: { target: '192.0.2.7:80' } };
    const filled = await rig.whatIf([...empty, target]);
    assert.deepEqual(summary(filled), ['1: 200 backend of all -> null backend of all']);
  });

  it('leaves errors of the backend as they are', async () => {
    assert.equal(await rig.send('/users/teapot'), 418);
    await rig.kept(1);
    const report = await rig.whatIf([{ method: 'PATCH', path: '/routes/all', body: { tags: ['x'] } }]);
    assert.deepEqual([report.changed, report.requests.undecided], [0, 0]);
    // Spans and log records are not sent.
    const reporting = await rig.whatIf([
      addToUsers('zipkin', { http_endpoint: 'http://127.0.0.1:1/', sample_ratio: 1 }),
      addToUsers('http-log', { http_endpoint: 'http://127.0.0.1:1/' }),
    ]);
    assert.deepEqual([reporting.changed, reporting.requests.undecided], [0, 0]);
  });

  it('takes the whole config as a document, in JSON and YAML', async () => {
    await rig.send('/users/1');
    await rig.send('/open');
    await rig.kept(2);
    const document = {
      _format_version: '3.0',
      services: [
        {
          name: 'other',
          url: `${rig.backend.url}/v2`,
          routes: [{ name: 'open', paths: ['/open'], strip_path: false }],
        },
      ],
    };
    const { status, body } = await rig.gateway.admin('POST', '/what-if', { config: document });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(summary(body), ['1: 200 backend of all -> 404 gateway of no route']);
    const text = '_format_version: "3.0"\nservices: []\n';
    const none = await rig.gateway.admin('POST', '/what-if', { config: text });
    assert.deepEqual(summary(none.body), [
      '1: 200 backend of all -> 404 gateway of no route',
      '1: 200 backend of open -> 404 gateway of no route',
    ]);
    const broken = await rig.gateway.admin('POST', '/what-if', { config: { _format_version: '3.0', services: [{}] } });
    const applied = await rig.gateway.admin('POST', '/config/apply?dry_run=1', {
      _format_version: '3.0',
      services: [{}],
    });
    assert.deepEqual([broken.status, broken.body], [applied.status, applied.body]);
  });

  it('repeats the newest requests only, as many as asked for', async () => {
    for (let count = 0; count < 4; count++) await rig.send('/users/1');
    await rig.kept(4);
    const report = await rig.whatIf([{ method: 'DELETE', path: '/routes/all' }], { requests: 3 });
    assert.deepEqual([report.requests.kept, report.requests.replayed, report.changed], [3, 3, 3]);
  });
});

describe('what cannot be decided', () => {
  it('is a request that a plugin would ask another server about', async () => {
    await rig.send('/users/1', `Authorization: Basic ${Buffer.from('ann:secret').toString('base64')}\r\n`);
    await rig.send('/users/1');
    await rig.kept(2);
    const config = { ldap_host: '127.0.0.1', ldap_port: 1, base_dn: 'dc=x', attribute: 'cn', header_type: 'basic' };
    const report = await rig.whatIf([addToUsers('ldap-auth', config)]);
    assert.deepEqual(
      report.undecided.map(({ plugin, count }: Json) => [plugin, count]),
      [['ldap-auth', 1]],
    );
    assert.match(report.undecided[0].reason, /outside of the gateway/);
    assert.deepEqual(summary(report), ['1: 200 backend of all -> 401 ldap-auth of all']);
    assert.doesNotMatch(JSON.stringify(report), /secret/);
  });

  it('is a request whose body a plugin would read', async () => {
    await rig.send('/users/1', 'Content-Type: application/json\r\nContent-Length: 2\r\n', 'POST', '{}');
    await rig.kept(1);
    const schema = '[{"name":{"type":"string","required":true}}]';
    const report = await rig.whatIf([addToUsers('request-validator', { body_schema: schema })]);
    assert.equal(report.changed, 0);
    assert.deepEqual(report.undecided, [
      {
        reason: 'It depends on the body of the request, which is not recorded.',
        plugin: 'request-validator',
        count: 1,
      },
    ]);
  });

  it('is a request whose size is not known', async () => {
    await rig.send('/users/1', 'Transfer-Encoding: chunked\r\n', 'POST', '1\r\nx\r\n0\r\n\r\n');
    await rig.send('/users/1', 'Content-Length: 1\r\n', 'POST', 'x');
    await rig.kept(2);
    const report = await rig.whatIf([addToUsers('request-size-limiting', { allowed_payload_size: 1 })]);
    assert.deepEqual([report.changed, report.requests.undecided], [0, 1]);
    assert.equal(report.undecided[0].plugin, 'request-size-limiting');
  });

  it('is a request that had another result than it has now', async () => {
    await rig.send('/users/1');
    await rig.kept(1);
    await rig.write('PATCH', '/routes/all', { methods: ['POST'] });
    const report = await rig.whatIf([{ method: 'DELETE', path: '/routes/all' }]);
    await rig.write('PATCH', '/routes/all', { methods: null });
    assert.deepEqual([report.changed, report.requests.undecided], [0, 1]);
    assert.match(report.undecided[0].reason, /the config has changed since/);
  });

  it('is everything with a limit that Redis counts', async () => {
    for (let count = 0; count < 3; count++) await rig.send('/users/1');
    await rig.kept(3);
    const config = { minute: 1, policy: 'redis', redis: { host: '127.0.0.1', port: 1 } };
    const report = await rig.whatIf([addToUsers('rate-limiting', config)]);
    assert.deepEqual(
      report.undecided.map(({ plugin, count }: Json) => [plugin, count]),
      [['rate-limiting', 3]],
    );
  });
});
