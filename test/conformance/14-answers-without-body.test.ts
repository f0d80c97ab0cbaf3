import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { byName } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 14: answers that have no body, and methods that the gateway refuses. */
describe('answers without a body', { concurrency: 8 }, () => {
  let rig: Rig;
  const next = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext';
  before(async () => {
    rig = await startRig({
      script: byName({
        'head-length': (connection) => connection.write('HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nX-A: b\r\n\r\n'),
        'head-chunked': (connection) => connection.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'),
        'head-body': (connection) => connection.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'),
        '204': (connection) => connection.write('HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n'),
        '204-length': (connection) => connection.write('HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n'),
        '204-body': (connection) => connection.write('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello'),
        '204-chunked': (connection) =>
          connection.write('HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'),
        '304': (connection) => connection.write('HTTP/1.1 304 Not Modified\r\nETag: "e"\r\n\r\n'),
        '304-length': (connection) => connection.write('HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n'),
        '304-body': (connection) => connection.write('HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello'),
        next: (connection) => connection.write(next),
      }),
    });
  });
  after(() => rig.close());

  /** Sends two requests on one connection: an unexpected body would be read as the second answer. */
  async function askTwice(
    method: string,
    path: string,
  ): ReturnType<Awaited<ReturnType<typeof openClient>>['readResponse']> {
    using client = await openClient(rig.port);
    client.write(`${method} ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const first = await client.readResponse(method);
    client.write('GET /next HTTP/1.1\r\nHost: a\r\n\r\n');
    const second = await client.readResponse();
    assert.equal(second.status, 200);
    assert.equal(second.body, 'next');
    return first;
  }

  it('to HEAD keep the length that a GET would have', async () => {
    const first = await askTwice('HEAD', '/head-length');
    assert.equal(first.status, 200);
    assert.deepEqual(first.all('content-length'), ['1234']);
    assert.equal(first.get('x-a'), 'b');
  });

  it('to HEAD have no body when the answer is chunked', async () => {
    assert.equal((await askTwice('HEAD', '/head-chunked')).status, 200);
  });

  it('to HEAD do not forward a body that the backend sends anyway', async () => {
    assert.equal((await askTwice('HEAD', '/head-body')).status, 200);
  });

  for (const path of ['/204', '/204-length', '/204-body', '/204-chunked']) {
    it(`with 204 have neither body nor length (${path})`, async () => {
      const first = await askTwice('GET', path);
      assert.equal(first.status, 204);
      assert.equal(first.get('content-length'), undefined);
      assert.equal(first.get('transfer-encoding'), undefined);
    });
  }

  for (const path of ['/304', '/304-length', '/304-body']) {
    it(`with 304 have no body (${path})`, async () => {
      const first = await askTwice('GET', path);
      assert.equal(first.status, 304);
      assert.equal(first.get('transfer-encoding'), undefined);
    });
  }

  it('to HEAD have no body when the gateway answers with an error', async () => {
    using client = await openClient(rig.port);
    await rig.write('PUT', '/routes/nowhere', { paths: ['/nowhere'] });
    client.write('HEAD /nowhere HTTP/1.1\r\nHost: a\r\n\r\n');
    const first = await client.readResponse('HEAD');
    assert.equal(first.status, 503);
    client.write('GET /next HTTP/1.1\r\nHost: a\r\n\r\n');
    assert.equal((await client.readResponse()).body, 'next');
  });
});

describe('methods that the gateway does not serve', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig();
  });
  after(async () => {
    const seen = rig.backend.received;
    await rig.close();
    assert.equal(seen, '');
  });

  for (const [what, bytes] of Object.entries({
    'CONNECT with an authority': 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n',
    'CONNECT with a path': 'CONNECT / HTTP/1.1\r\nHost: example.com\r\n\r\n',
    TRACE: 'TRACE / HTTP/1.1\r\nHost: example.com\r\n\r\n',
  })) {
    it(`are refused with 405: ${what}`, async () => {
      using client = await openClient(rig.port);
      client.write(`${bytes}GET /tunnelled HTTP/1.1\r\nHost: a\r\n\r\n`);
      const response = await client.readResponse();
      assert.equal(response.status, 405);
      assert.match(response.body, /^Method not allowed\n/);
      assert.equal(response.get('allow'), 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
      assert.match(response.get('content-type') ?? '', /^text\/plain/);
    });
  }
});
