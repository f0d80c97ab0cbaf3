import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { answer, type BackendConnection, byName } from '../support/raw-backend.ts';
import { exchangeOne, openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 39: only a well-formed WebSocket handshake becomes a tunnel, and only when the backend's answer matches its key. */
const key = 'dGhlIHNhbXBsZSBub25jZQ==';
const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
const handshake = [
  'Host: example.com',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${key}`,
];

function request(path: string, lines: readonly string[], method = 'GET', version = '1.1'): string {
  return `${method} ${path} HTTP/${version}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
}

/** The handshake with one line replaced, removed or added. */
function but(line: string, other: string | null): readonly string[] {
  const name = line.slice(0, line.indexOf(':') + 1);
  const kept = handshake.filter((one) => !one.startsWith(name));
  return other === null ? kept : [...kept, other];
}

const smuggled = 'GET /admin/secret HTTP/1.1\r\nHost: example.com\r\nX-Consumer-Username: root\r\n\r\n';

/** Accepts every upgrade, and keeps reading. */
async function eager(connection: BackendConnection): Promise<void> {
  for (;;) {
    const seen = await connection.readRequest();
    const upgrade = seen.get('upgrade');
    if (upgrade === undefined) connection.write(answer(`plain ${seen.target}`));
    else {
      connection.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      );
    }
  }
}

const notHandshakes: Readonly<Record<string, readonly [lines: readonly string[], method?: string, version?: string]>> =
  {
    'h2c with HTTP2-Settings': [
      [
        'Host: example.com',
        'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
      ],
    ],
    'h2c without HTTP2-Settings': [['Host: example.com', 'Connection: Upgrade', 'Upgrade: h2c']],
    'HTTP2-Settings that Connection does not name': [
      [
        'Host: example.com',
        'Connection: Upgrade',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABk',
        'HTTP2_Settings: AAMAAABk',
      ],
    ],
    'an unknown protocol': [but('Upgrade:', 'Upgrade: foo/1')],
    'TLS/1.2': [but('Upgrade:', 'Upgrade: TLS/1.2')],
    'two protocols in one line': [but('Upgrade:', 'Upgrade: websocket, h2c')],
    'two protocols, the other first': [but('Upgrade:', 'Upgrade: h2c, websocket')],
    'two protocols in two lines': [[...handshake, 'Upgrade: h2c']],
    'websocket twice': [[...handshake, 'Upgrade: websocket']],
    'websocket with a version': [but('Upgrade:', 'Upgrade: websocket/13')],
    'an empty Upgrade': [but('Upgrade:', 'Upgrade: ')],
    'no Connection option': [but('Connection:', 'Connection: keep-alive')],
    'no key': [but('Sec-WebSocket-Key:', null)],
    'a key that is too short': [but('Sec-WebSocket-Key:', 'Sec-WebSocket-Key: c2hvcnQ=')],
    'a key that is too long': [but('Sec-WebSocket-Key:', `Sec-WebSocket-Key: AAAA${key}`)],
    'a key that is not base64': [but('Sec-WebSocket-Key:', 'Sec-WebSocket-Key: !!!!!!!!!!!!!!!!!!!!!!==')],
    'two keys': [[...handshake, 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==']],
    'no version': [but('Sec-WebSocket-Version:', null)],
    'version 8': [but('Sec-WebSocket-Version:', 'Sec-WebSocket-Version: 8')],
    'two versions': [[...handshake, 'Sec-WebSocket-Version: 8']],
    'a POST': [[...handshake, 'Content-Length: 0'], 'POST'],
    'HTTP/1.0': [[...handshake, 'Connection: keep-alive'], 'GET', '1.0'],
  };

describe('requests that are not a WebSocket handshake', { concurrency: 8 }, () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ script: eager });
  });
  after(() => rig.close());

  for (const [index, [what, [lines, method, version]]] of Object.entries(notHandshakes).entries()) {
    it(`are forwarded as plain requests: ${what}`, async () => {
      const path = `/plain/${index}`;
      using client = await openClient(rig.port);
      // Bytes after the head are the next request, whose head the gateway writes.
      client.write(request(path, lines, method, version) + smuggled);
      const first = await client.readResponse();
      assert.equal(first.status, 200);
      assert.equal(first.body, `plain ${path}`);
      const seen = await rig.backend.request(({ target }) => target === path);
      for (const name of ['upgrade', 'http2-settings', 'http2_settings']) assert.equal(seen.get(name), undefined, name);
      assert.equal(seen.get('connection'), 'keep-alive');
      assert.equal((await client.readResponse()).body, 'plain /admin/secret');
      assert.doesNotMatch(seen.connection.received, /root/);
    });
  }
});

describe('a WebSocket handshake with a body', () => {
  it('is forwarded with its length', async () => {
    await using rig = await startRig({ script: eager });
    const lines = [...handshake, `Content-Length: ${smuggled.length}`];
    using client = await openClient(rig.port);
    client.write(request('/body', lines) + smuggled);
    assert.equal((await client.readResponse()).body, 'plain /body');
    const seen = await rig.backend.request(({ target }) => target === '/body');
    assert.equal(seen.body, smuggled);
  });
});

const good = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
const badAnswers: Readonly<Record<string, string>> = {
  'no Sec-WebSocket-Accept': `${good}\r\n`,
  'the accept value of another key': `${good}Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOp=\r\n\r\n`,
  'two accept values': `${good}Sec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  'another protocol': `${good.replace('websocket', 'h2c')}Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
  'two protocols': `${good.replace('websocket', 'websocket, h2c')}Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
  'no Upgrade': `${good.replace(/Upgrade: .*\r\n/, '')}Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
  'no Connection': `${good.replace(/Connection: .*\r\n/, '')}Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
  'HTTP/1.0': `${good.replace('HTTP/1.1', 'HTTP/1.0')}Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
};

describe('the 101 of a backend', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      settings: { plugins: ['request-transformer', 'response-transformer'] },
      service: { read_timeout: 3_000 },
      script: async (connection) => {
        for (;;) {
          const { target } = await connection.readRequest();
          const bad = badAnswers[decodeURIComponent(target.slice(1))];
          if (bad !== undefined) connection.write(`${bad}secret`);
          else if (target === '/slow') {
            // No byte may precede the 101.
            const early = await Promise.race([
              connection.reader.readExactly(5),
              new Promise<null>((resolve) =>
                connection.socket.write('HTTP/1.1 103 Early Hints\r\n\r\n', () => resolve(null)),
              ),
            ]);
            connection.write(`${good}Sec-WebSocket-Accept: ${accept}\r\n\r\n`);
            connection.write(`early:${early} then:${await connection.reader.readExactly(5)}`);
          } else connection.write(`${good}Sec-WebSocket-Accept: ${accept}\r\n\r\nopen`);
        }
      },
    });
    await rig.write('PUT', '/services/backend/routes/edited', { paths: ['/edited'], strip_path: false });
    await rig.write('POST', '/routes/edited/plugins', {
      name: 'request-transformer',
      config: {
        remove: { headers: ['Sec-WebSocket-Version'] },
        replace: { headers: ['Sec-WebSocket-Key:AAAAAAAAAAAAAAAAAAAAAA=='] },
        add: { headers: ['Sec_WebSocket_Key:AAAAAAAAAAAAAAAAAAAAAA==', 'X-Added:yes'] },
      },
    });
    await rig.write('POST', '/routes/edited/plugins', {
      name: 'response-transformer',
      config: { remove: { headers: ['Sec-WebSocket-Accept'] }, add: { headers: ['X-Answered:yes'] } },
    });
    await rig.write('PUT', '/services/backend/routes/post', { paths: ['/post'], strip_path: false });
    await rig.write('POST', '/routes/post/plugins', { name: 'request-transformer', config: { http_method: 'POST' } });
  });
  after(() => rig.close());

  for (const what of Object.keys(badAnswers)) {
    it(`causes a 502 with ${what}`, async () => {
      const path = `/${encodeURIComponent(what)}`;
      using client = await openClient(rig.port);
      client.write(request(path, handshake));
      const response = await client.readResponse();
      assert.equal(response.status, 502);
      assert.doesNotMatch(response.body, /secret/);
      const seen = await rig.backend.request(({ target }) => target === path);
      await seen.connection.closed;
      assert.ok(seen.connection.received.endsWith(seen.raw), 'the connection carried more');
    });
  }

  it('opens the tunnel when its key matches', async () => {
    using client = await openClient(rig.port);
    client.write(request('/good', but('Upgrade:', 'Upgrade: WebSocket')));
    const response = await client.readResponse();
    assert.equal(response.status, 101);
    assert.deepEqual(response.all('sec-websocket-accept'), [accept]);
    assert.equal(await client.reader.readExactly(4), 'open');
  });

  it('precedes every byte that the client sends after its head', async () => {
    using client = await openClient(rig.port);
    client.write(`${request('/slow', handshake)}frame`);
    let response = await client.readResponse();
    while (response.status !== 101) response = await client.readResponse();
    assert.equal(await client.reader.readExactly(21), 'early:null then:frame');
  });

  it("matches the client's key, whatever plugins do to the handshake fields", async () => {
    using client = await openClient(rig.port);
    client.write(request('/edited', handshake));
    const response = await client.readResponse();
    assert.equal(response.status, 101);
    assert.deepEqual(response.all('sec-websocket-accept'), [accept]);
    assert.equal(response.get('x-answered'), 'yes');
    const seen = await rig.backend.request(({ target }) => target === '/edited');
    assert.deepEqual(seen.all('sec-websocket-key'), [key]);
    assert.deepEqual(seen.all('sec_websocket_key'), []);
    assert.deepEqual(seen.all('sec-websocket-version'), ['13']);
    assert.deepEqual(seen.all('upgrade'), ['websocket']);
    assert.deepEqual(seen.all('connection'), ['keep-alive, Upgrade']);
    assert.equal(seen.get('x-added'), 'yes');
  });

  it('causes a 502 when a plugin turned the handshake into another request', async () => {
    const response = await exchangeOne(rig.port, request('/post', handshake));
    assert.equal(response.status, 502);
    const seen = await rig.backend.request(({ target }) => target === '/post');
    assert.equal(seen.method, 'POST');
    assert.equal(seen.get('upgrade'), undefined);
  });
});

describe('a handshake whose answer gets another status from a plugin', () => {
  it('opens no tunnel', async () => {
    const meddler = join(import.meta.dirname, '../support/plugins/meddler.ts');
    await using rig = await startRig({
      settings: { plugins: [meddler] },
      script: async (connection) => {
        await connection.readRequest();
        connection.write(
          `${good}Sec-WebSocket-Accept: ${accept}\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged`,
        );
        await connection.closed;
      },
    });
    await rig.write('POST', '/services/backend/plugins', { name: 'meddler', config: { does: 'say-ok' } });
    using client = await openClient(rig.port);
    client.write(request('/', handshake));
    const response = await client.readResponse();
    assert.equal(response.status, 200);
    assert.equal(response.body, '');
    for (const name of ['upgrade', 'sec-websocket-accept']) assert.equal(response.get(name), undefined, name);
    client.end();
    assert.doesNotMatch((await client.readToEnd()).text, /forged/);
  });
});

describe('a handshake that is retried', () => {
  it('opens a tunnel to the backend that accepts it', async () => {
    let turn = 0;
    await using rig = await startRig({
      service: { retries: 2 },
      script: byName({
        again: async (connection) => {
          if (turn++ === 0) connection.socket.destroy();
          else {
            connection.write(`${good}Sec-WebSocket-Accept: ${accept}\r\n\r\n`);
            connection.write(await connection.reader.readExactly(4));
          }
        },
      }),
    });
    using client = await openClient(rig.port);
    client.write(`${request('/again', handshake)}ping`);
    const response = await client.readResponse();
    assert.equal(response.status, 101);
    assert.equal(await client.reader.readExactly(4), 'ping');
    assert.equal(rig.backend.requests.length, 2);
  });
});
