import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { answer, answerEach } from '../support/raw-backend.ts';
import { exchangeOne, openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

const tenantOnly = {
  parameter_schema: [
    {
      in: 'header',
      name: 'x-tenant',
      required: true,
      schema: '{"type":"string","pattern":"^7$"}',
      style: 'simple',
      explode: false,
    },
  ],
};

/** Case 21: `Connection` removes what the client sent, never what the gateway adds or a plugin reads. */
describe('Connection of a client', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      settings: { trustedIps: ['127.0.0.1'], realIpHeader: 'X-Forwarded-For', realIpRecursive: true },
    });
    await rig.write('PUT', '/services/backend/routes/tagged', { paths: ['/tagged'], strip_path: true });
    await rig.write('POST', '/routes/tagged/plugins', {
      name: 'correlation-id',
      config: { header_name: 'X-Correlation', generator: 'uuid' },
    });
    await rig.write('PUT', '/services/backend/routes/denied', { paths: ['/denied'] });
    await rig.write('POST', '/routes/denied/plugins', { name: 'ip-restriction', config: { deny: ['203.0.113.7'] } });
  });
  after(() => rig.close());

  it('drops the fields it names, and itself', async () => {
    await exchangeOne(
      rig.port,
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: X-Drop, x_keep\r\nX-Drop: 1\r\nX-Drop: 2\r\nX-Stay: 1\r\n' +
        'Keep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\nTE: gzip\r\n\r\n',
    );
    const request = rig.backend.requests.at(-1);
    for (const name of ['x-drop', 'keep-alive', 'proxy-connection', 'te', 'upgrade']) {
      assert.equal(request?.get(name), undefined, name);
    }
    assert.equal(request?.get('x-stay'), '1');
    assert.equal(request?.get('connection'), 'keep-alive');
  });

  const added = [
    'x-forwarded-for',
    'x-forwarded-proto',
    'x-forwarded-host',
    'x-forwarded-port',
    'x-forwarded-path',
    'x-forwarded-prefix',
    'x-real-ip',
    'x-kong-request-id',
    'via',
    'host',
    'x-correlation',
  ];
  it('cannot remove what the gateway or a plugin adds', async () => {
    const response = await exchangeOne(
      rig.port,
      `GET /tagged HTTP/1.1\r\nHost: a\r\nConnection: ${added.join(', ')}, X-Consumer-Id\r\n\r\n`,
    );
    assert.equal(response.status, 200);
    for (const name of added) assert.ok(rig.backend.requests.at(-1)?.get(name), name);
  });

  it('cannot remove end-to-end fields', async () => {
    const lines: Readonly<Record<string, string>> = {
      accept: 'text/html',
      'accept-encoding': 'identity',
      authorization: 'Basic x',
      'cache-control': 'no-store',
      'content-type': 'application/json',
      'content-encoding': 'identity',
      'content-language': 'en',
      cookie: 'a=b',
      'if-match': '"x"',
      origin: 'http://a',
      range: 'bytes=0-1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'user-agent': 'test',
    };
    const fields = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
    const named = Object.keys(lines).join(' ,\t').toUpperCase();
    const response = await exchangeOne(
      rig.port,
      `POST / HTTP/1.1\r\nHost: a\r\nConnection: ${named}, close\r\n${fields.join('')}Content-Length: 2\r\n\r\n{}`,
    );
    assert.equal(response.status, 200);
    const request = rig.backend.requests.at(-1);
    for (const [name, value] of Object.entries(lines)) assert.deepEqual(request?.all(name), [value], name);
  });

  it('does not close for an option that only resembles close', async () => {
    using client = await openClient(rig.port);
    for (let turn = 0; turn < 2; turn++) {
      client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, X-Close\r\n\r\n');
      const response = await client.readResponse();
      assert.equal(response.get('connection'), undefined);
    }
  });

  it('cannot remove the framing', async () => {
    const response = await exchangeOne(
      rig.port,
      'POST / HTTP/1.1\r\nHost: a\r\nConnection: Content-Length, Transfer-Encoding\r\nContent-Length: 5\r\n\r\nhello',
    );
    assert.equal(response.status, 200);
    assert.equal(rig.backend.requests.at(-1)?.body, 'hello');
  });

  it('cannot hide the client address from a plugin', async () => {
    const response = await exchangeOne(
      rig.port,
      'GET /denied HTTP/1.1\r\nHost: a\r\nConnection: X-Forwarded-For\r\nX-Forwarded-For: 203.0.113.7\r\n\r\n',
    );
    assert.equal(response.status, 403);
  });

  for (const odd of ['close, close', ',,,', 'keep-alive,', ' ', 'X-A,'.repeat(500)]) {
    it(`is accepted with unusual values: ${JSON.stringify(odd.slice(0, 20))}`, async () => {
      const response = await exchangeOne(rig.port, `GET / HTTP/1.1\r\nHost: a\r\nConnection: ${odd}\r\n\r\n`);
      assert.equal(response.status, 200);
    });
  }
});

describe('Connection of a client that must authenticate', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ settings: { plugins: ['acl', 'basic-auth', 'key-auth'] } });
    await rig.write('PUT', '/consumers/ada', { custom_id: 'A-1' });
    await rig.write('POST', '/consumers/ada/key-auth', { key: 'key-of-ada' });
    await rig.write('POST', '/consumers/ada/basic-auth', { username: 'ada', password: 'pass' });
    await rig.write('PUT', '/consumers/ada/acls/writers', {});
    for (const plugin of ['key-auth', 'basic-auth']) {
      await rig.write('PUT', `/services/backend/routes/${plugin}`, { paths: [`/${plugin}`] });
      await rig.write('POST', `/routes/${plugin}/plugins`, { name: plugin });
      await rig.write('POST', `/routes/${plugin}/plugins`, { name: 'acl', config: { allow: ['writers'] } });
    }
  });
  after(() => rig.close());

  const identity = [
    'X-Consumer-Id',
    'X-Consumer-Username',
    'X-Consumer-Custom-Id',
    'X-Consumer-Groups',
    'X-Credential-Identifier',
  ];
  const credentials: Readonly<Record<string, string>> = {
    'key-auth': 'apikey: key-of-ada',
    'basic-auth': `Authorization: Basic ${Buffer.from('ada:pass').toString('base64')}`,
  };
  for (const [plugin, line] of Object.entries(credentials)) {
    it(`hides neither the credential from ${plugin} nor the identity from the backend`, async () => {
      const options = [...identity, 'Authorization', 'apikey', 'X-Anonymous-Consumer'].join(', ');
      const head = `GET /${plugin} HTTP/1.1\r\nHost: a\r\nConnection: ${options}\r\n`;
      const response = await exchangeOne(rig.port, `${head}${line}\r\n\r\n`);
      assert.equal(response.status, 200);
      const request = rig.backend.requests.at(-1);
      for (const name of identity) assert.ok(request?.get(name), name);
      assert.equal(request?.get('x-consumer-username'), 'ada');
      assert.equal((await exchangeOne(rig.port, `${head}\r\n`)).status, 401);
    });
  }
});

describe('Connection of a client and what plugins read', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      settings: { plugins: ['body-validator', 'key-auth', 'proxy-cache', 'request-validator'] },
      script: answerEach(({ target, get }) =>
        target.startsWith('/cached')
          ? answer(
              `for ${get('x-lang') ?? 'nobody'}`,
              'Content-Type: text/plain\r\nCache-Control: max-age=60\r\nVary: X-Lang\r\n',
            )
          : answer('ok'),
      ),
    });
    await rig.write('PUT', '/consumers/ada', {});
    await rig.write('POST', '/consumers/ada/key-auth', { key: 'key-of-ada' });
    for (const [name, plugin, config] of [
      ['validated', 'request-validator', { body_schema: '[{"a":{"type":"string","required":true}}]' }],
      ['tenant', 'request-validator', tenantOnly],
      ['keyed', 'key-auth', { key_names: ['x-own-key'] }],
      ['cached', 'proxy-cache', { strategy: 'memory' }],
    ] as const) {
      await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`], strip_path: false });
      await rig.write('POST', `/routes/${name}/plugins`, { name: plugin, config });
    }
  });
  after(() => rig.close());

  it('cannot hide the content type of a body that was validated', async () => {
    const body = '{"a":"x"}';
    const response = await exchangeOne(
      rig.port,
      `POST /validated HTTP/1.1\r\nHost: a\r\nConnection: Content-Type, Content-Encoding\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    assert.equal(response.status, 200);
    assert.equal(rig.backend.requests.at(-1)?.get('content-type'), 'application/json');
    assert.equal(rig.backend.requests.at(-1)?.body, body);
  });

  it('cannot remove a header that a plugin validated', async () => {
    const request = (lines: string): string =>
      `GET /tenant HTTP/1.1\r\nHost: a\r\nConnection: X-Tenant\r\n${lines}\r\n`;
    assert.equal((await exchangeOne(rig.port, request(''))).status, 400);
    assert.equal((await exchangeOne(rig.port, request('X-Tenant: 7\r\n'))).status, 200);
    assert.equal(rig.backend.requests.at(-1)?.get('x-tenant'), '7');
  });

  it('cannot remove a credential that a plugin read and that is forwarded', async () => {
    const response = await exchangeOne(
      rig.port,
      'GET /keyed HTTP/1.1\r\nHost: a\r\nConnection: X-Own-Key, X-Other\r\nX-Own-Key: key-of-ada\r\nX-Other: 1\r\n\r\n',
    );
    assert.equal(response.status, 200);
    assert.equal(rig.backend.requests.at(-1)?.get('x-own-key'), 'key-of-ada');
    assert.equal(rig.backend.requests.at(-1)?.get('x-other'), undefined);
  });

  it('cannot make the cache store one variant under the key of another', async () => {
    const ask = async (connection: string): Promise<string> =>
      (await exchangeOne(rig.port, `GET /cached HTTP/1.1\r\nHost: a\r\n${connection}X-Lang: de\r\n\r\n`)).body;
    assert.equal(await ask('Connection: X-Lang\r\n'), 'for nobody');
    assert.equal(await ask(''), 'for de');
    const seen = rig.backend.requests.length;
    assert.equal(await ask(''), 'for de');
    assert.equal(rig.backend.requests.length, seen, 'the answer was not stored');
  });
});

describe('Connection of a backend', () => {
  it('cannot remove fields that control caching or the body', async () => {
    const lines = [
      'Cache-Control: no-store',
      'Content-Type: text/x',
      'Set-Cookie: a=b',
      'ETag: "e"',
      'Vary: accept',
      'Location: /x',
    ];
    const names = lines.map((line) => line.slice(0, line.indexOf(':')));
    await using rig = await startRig({
      script: answerEach(() => answer('ok', `Connection: ${names.join(', ')}\r\n${lines.join('\r\n')}\r\n`)),
    });
    const response = await exchangeOne(rig.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    for (const line of lines) {
      assert.equal(response.get(line.slice(0, line.indexOf(':'))), line.slice(line.indexOf(':') + 2), line);
    }
  });

  it('drops the fields it names, but none that the gateway adds', async () => {
    await using rig = await startRig({
      script: answerEach(() =>
        answer(
          'ok',
          'Connection: X-Drop, Via, X-Kong-Upstream-Latency, X-Kong-Request-Id, Content-Length, Server\r\nX-Drop: 1\r\nX-Stay: 1\r\n' +
            'Keep-Alive: timeout=5\r\nProxy-Connection: x\r\nUpgrade: h2c\r\nTrailer: X-T\r\n',
        ),
      ),
    });
    const response = await exchangeOne(rig.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    assert.equal(response.status, 200);
    assert.equal(response.body, 'ok');
    for (const name of ['x-drop', 'keep-alive', 'proxy-connection', 'upgrade', 'trailer']) {
      assert.equal(response.get(name), undefined, name);
    }
    assert.equal(response.get('x-stay'), '1');
    assert.match(response.get('via') ?? '', /^1\.1 kong\//);
    assert.match(response.get('x-kong-upstream-latency') ?? '', /^\d+$/);
    assert.match(response.get('x-kong-request-id') ?? '', /^[0-9a-f]{32}$/);
  });
});
