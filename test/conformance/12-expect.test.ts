import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { answer, byName } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 12: the gateway answers the expectation itself and does not forward it (RFC 9110 10.1.1). */
function head(path: string, expect = '100-continue', version = '1.1'): string {
  return `POST ${path} HTTP/${version}\r\nHost: example.com\r\nContent-Length: 5\r\nExpect: ${expect}\r\n\r\n`;
}

describe('Expect: 100-continue', { concurrency: 8 }, () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      settings: { clientBodyTimeout: 700 },
      script: byName({
        plain: (connection, request) => connection.write(answer(`got ${request.body}`)),
        continues: (connection, request) =>
          connection.write(
            `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\nX-A: b\r\n\r\n${answer(`got ${request.body}`)}`,
          ),
        refuses: (connection) => connection.write(answer('no', '', '417 Expectation Failed')),
        hints: (connection) =>
          connection.write(`HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n${answer('hinted')}`),
      }),
    });
    await rig.write('PUT', '/services/backend/routes/refused', { paths: ['/refused'] });
    await rig.write('POST', '/routes/refused/plugins', {
      name: 'request-termination',
      config: { status_code: 401, message: 'no' },
    });
  });
  after(() => rig.close());

  for (const spelling of ['100-continue', '100-Continue', '100-CONTINUE']) {
    it(`gets 100 Continue before it sends its body (${spelling})`, async () => {
      using client = await openClient(rig.port);
      client.write(head('/plain', spelling));
      const interim = await client.readResponse();
      assert.equal(interim.status, 100);
      client.write('hello');
      const final = await client.readResponse();
      assert.equal(final.status, 200);
      assert.equal(final.body, 'got hello');
      assert.equal(rig.backend.requests.at(-1)?.get('expect'), undefined);
    });
  }

  it('accepts a body that is sent without waiting', async () => {
    using client = await openClient(rig.port);
    client.write(`${head('/plain')}hello`);
    let response = await client.readResponse();
    if (response.status === 100) response = await client.readResponse();
    assert.equal(response.body, 'got hello');
  });

  it('gets at most one 100 when the backend sends its own', async () => {
    using client = await openClient(rig.port);
    client.write(head('/continues'));
    assert.equal((await client.readResponse()).status, 100);
    client.write('hello');
    const final = await client.readResponse();
    assert.equal(final.status, 200);
    assert.equal(final.body, 'got hello');
  });

  it('gets no 100 when a plugin refuses the request, and the gateway does not wait for the body', async () => {
    using client = await openClient(rig.port);
    client.write(head('/refused'));
    const response = await client.readResponse();
    assert.equal(response.status, 401);
    assert.equal(response.get('connection')?.toLowerCase(), 'close');
    assert.equal((await client.readToEnd()).text, '');
  });

  it('gets the 417 of a backend unchanged', async () => {
    using client = await openClient(rig.port);
    client.write(`${head('/refuses')}hello`);
    let response = await client.readResponse();
    if (response.status === 100) response = await client.readResponse();
    assert.equal(response.status, 417);
    assert.equal(response.body, 'no');
  });

  it('ends with 408 or a close when the body never arrives', async () => {
    using client = await openClient(rig.port);
    client.write(head('/plain?never'));
    assert.equal((await client.readResponse()).status, 100);
    const { text } = await client.readToEnd();
    assert.ok(text === '' || text.startsWith('HTTP/1.1 408 '), text);
    assert.ok(!rig.backend.requests.some((request) => request.target === '/plain?never' && request.complete));
  });

  it('is ignored on HTTP/1.0', async () => {
    using client = await openClient(rig.port);
    client.write(`${head('/plain', '100-continue', '1.0')}hello`);
    const { text } = await client.readToEnd();
    assert.match(text, /^HTTP\/1\.1 200 /);
    assert.match(text, /got hello$/);
  });

  for (const other of ['200-ok', '100-continue, x', 'x', '100-continue;q=1']) {
    it(`with another expectation gets 417 (${other})`, async () => {
      using client = await openClient(rig.port);
      client.write(head('/plain', other));
      const response = await client.readResponse();
      assert.equal(response.status, 417);
      assert.equal((await client.readToEnd()).text, '');
    });
  }
});

describe('informational answers of a backend', () => {
  it('reach an HTTP/1.1 client as 103, but never an HTTP/1.0 client', async () => {
    await using rig = await startRig({
      script: byName({
        hints: (connection) =>
          connection.write(`HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n${answer('hinted')}`),
      }),
    });
    using client = await openClient(rig.port);
    client.write('GET /hints HTTP/1.1\r\nHost: a\r\n\r\n');
    const hint = await client.readResponse();
    assert.equal(hint.status, 103);
    assert.equal(hint.get('link'), '</a.css>; rel=preload');
    assert.equal((await client.readResponse()).body, 'hinted');

    using old = await openClient(rig.port);
    old.write('GET /hints HTTP/1.0\r\nHost: a\r\n\r\n');
    const { text } = await old.readToEnd();
    assert.doesNotMatch(text, / 103 /);
    assert.match(text, /hinted$/);
  });
});
