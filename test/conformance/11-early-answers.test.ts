import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { answer, answerEach, startRawBackend } from '../support/raw-backend.ts';
import { openClient, type RawClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 11: an unread body is never parsed as a request (CL.0, CVE-2025-4366). */
const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: example.com\r\n\r\n';
const follow = 'GET /follow HTTP/1.1\r\nHost: example.com\r\n\r\n';

/** Paths whose requests are answered before their body is read. */
const early: Readonly<Record<string, number>> = {
  '/refused/401': 401,
  '/refused/404': 404,
  '/refused/413': 413,
  '/refused/429': 429,
  '/refused/302': 302,
  '/refused/503': 503,
  '/no-service': 503,
};

interface Body {
  readonly lines: string;
  readonly bytes: string;
}
const bodies: Readonly<Record<string, Body>> = {
  'a declared body': { lines: `Content-Length: ${smuggled.length}\r\n`, bytes: smuggled },
  'a chunked body': {
    lines: 'Transfer-Encoding: chunked\r\n',
    bytes: `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
  },
  'a body of many requests': {
    lines: `Content-Length: ${smuggled.length * 100}\r\n`,
    bytes: smuggled.repeat(100),
  },
};

function head(path: string, lines: string, host = 'example.com'): string {
  return `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${lines}\r\n`;
}

/** Reads what follows the early answer: the answer to `follow` or the end, nothing else. */
async function assertFollowed(client: RawClient, closing: boolean): Promise<void> {
  if (closing) {
    assert.equal((await client.readToEnd()).text, '');
    return;
  }
  const next = await client.readResponse();
  assert.equal(next.body, 'backend got /follow');
}

describe('early answers', { concurrency: 16 }, () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ script: answerEach((request) => answer(`backend got ${request.target}`)) });
    for (const status of [401, 404, 413, 429, 302, 503]) {
      await rig.write('PUT', `/services/backend/routes/refused-${status}`, {
        paths: [`/refused/${status}`],
        strip_path: false,
      });
      await rig.write('POST', `/routes/refused-${status}/plugins`, {
        name: 'request-termination',
        config: { status_code: status, message: 'refused' },
      });
    }
    await rig.write('PUT', '/routes/no-service', { paths: ['/no-service'] });
  });
  after(async () => {
    const seen = rig.backend.requests.filter((request) => !request.target.startsWith('/follow'));
    await rig.close();
    assert.deepEqual(
      seen.map((request) => request.raw),
      [],
      'the backend saw what it should not',
    );
  });

  for (const [path, status] of Object.entries(early)) {
    for (const [what, body] of Object.entries(bodies)) {
      it(`${path}: ${what} sent together with its head`, async () => {
        using client = await openClient(rig.port);
        client.write(head(path, body.lines) + body.bytes + follow);
        const first = await client.readResponse();
        assert.equal(first.status, status);
        await assertFollowed(client, first.get('connection')?.toLowerCase() === 'close');
      });

      it(`${path}: ${what} sent after the answer`, async () => {
        using client = await openClient(rig.port);
        client.write(head(path, body.lines));
        const first = await client.readResponse();
        assert.equal(first.status, status);
        client.write(body.bytes + follow);
        await assertFollowed(client, first.get('connection')?.toLowerCase() === 'close');
      });
    }

    it(`${path}: a body too large to discard ends the connection`, async () => {
      using client = await openClient(rig.port);
      client.write(head(path, 'Content-Length: 100000000\r\n'));
      const first = await client.readResponse();
      assert.equal(first.status, status);
      client.write(smuggled.repeat(40_000));
      const { text } = await client.readToEnd();
      assert.equal(text, '');
    });
  }
});

describe('a body larger than the limit', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ settings: { clientMaxBodySize: 1000 } });
  });
  after(() => rig.close());

  it('is refused with 413 when declared, and reaches no backend', async () => {
    using client = await openClient(rig.port);
    client.write(head('/large', 'Content-Length: 1001\r\n') + 'x'.repeat(1001) + follow);
    const first = await client.readResponse();
    assert.equal(first.status, 413);
    assert.ok(!rig.backend.received.includes('/large'));
  });

  it('gets 413 or a close when chunked, and is never complete at the backend', async () => {
    using client = await openClient(rig.port);
    client.write(
      `${head('/chunked', 'Transfer-Encoding: chunked\r\n')}7d0\r\n${'x'.repeat(2000)}\r\n0\r\n\r\n${smuggled}`,
    );
    const first = await client.readResponse();
    assert.equal(first.status, 413);
    assert.equal((await client.readToEnd()).text, '');
    assert.ok(!rig.backend.requests.some((request) => request.target === '/chunked' && request.complete));
  });

  it('is accepted when exactly as large as the limit', async () => {
    using client = await openClient(rig.port);
    client.write(head('/fits', 'Content-Length: 1000\r\n') + 'x'.repeat(1000));
    assert.equal((await client.readResponse()).status, 200);
  });
});

describe('a backend that answers before it has read the body', () => {
  it('receives no other request after the half-sent body', async () => {
    const backend = await startRawBackend(async (connection) => {
      for (;;) {
        const head = await connection.readRequestHead();
        if (head.startLine.includes('/early')) {
          connection.write(answer('early'));
          // Only the body of this request may follow on this connection.
          await connection.closed;
          connection.socket.destroy();
        } else connection.write(answer(`second ${head.startLine}`));
      }
    });
    const rig = await startRig({ service: { url: backend.url } });
    try {
      using client = await openClient(rig.port);
      client.write(`${head('/early', 'Content-Length: 200000\r\n')}${'x'.repeat(100)}`);
      const first = await client.readResponse();
      assert.equal(first.body, 'early');
      if (first.get('connection')?.toLowerCase() !== 'close') {
        client.write(`${'x'.repeat(199_900)}${follow}`);
        const second = await client.readResponse();
        assert.match(second.body, /^second GET \/follow/);
      }
      using other = await openClient(rig.port);
      other.write(follow);
      assert.match((await other.readResponse()).body, /^second GET \/follow/);
      const used = backend.connections[0];
      assert.ok(!/GET \/follow/.test(used?.received ?? ''), 'the connection was used again');
    } finally {
      await rig.close();
      await backend.close();
    }
  });
});
