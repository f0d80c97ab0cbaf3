import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchangeOne, openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 8: a chunk is hexadecimal digits, CRLF, the data, CRLF, and nothing else. */
const head = 'POST /chunks HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\n\r\n';
const next = 'GET /smuggled HTTP/1.1\r\nHost: example.com\r\n\r\n';

const bad: Readonly<Record<string, string>> = {
  'a size with 0x': '0x5\r\nhello\r\n0\r\n\r\n',
  'a size with a plus sign': '+5\r\nhello\r\n0\r\n\r\n',
  'a size with a minus sign': '-5\r\nhello\r\n0\r\n\r\n',
  'a negative zero': '-0\r\n\r\n',
  'a space before the size': ' 5\r\nhello\r\n0\r\n\r\n',
  'a space after the size': '5 \r\nhello\r\n0\r\n\r\n',
  'a tab after the size': '5\t\r\nhello\r\n0\r\n\r\n',
  'an underscore in the size': '0_5\r\nhello\r\n0\r\n\r\n',
  'a letter that is no digit': 'g\r\nhello\r\n0\r\n\r\n',
  'an empty size': '\r\nhello\r\n0\r\n\r\n',
  'a size of only an extension': ';a=b\r\nhello\r\n0\r\n\r\n',
  'a size of 17 digits': '00000000000000005\r\nhello\r\n0\r\n\r\n',
  'a size of 16 digits that no counter holds': 'ffffffffffffffff\r\nhello\r\n0\r\n\r\n',
  'a size beyond exact integers': '20000000000005\r\nhello\r\n0\r\n\r\n',
  'a size of 1,000 zeros': `${'0'.repeat(1000)}5\r\nhello\r\n0\r\n\r\n`,
  'no CRLF after the data': '5\r\nhello0\r\n\r\n',
  'more data than the size': '5\r\nhello!\r\n0\r\n\r\n',
  'two other bytes instead of the CRLF': '5\r\nhelloXX0\r\n\r\n',
  'an LF only after the data': '5\r\nhello\n0\r\n\r\n',
  'a CR only after the data': '5\r\nhello\r0\r\n\r\n',
  'an LF only after the size': '5\nhello\r\n0\r\n\r\n',
  'a CR only after the size': '5\rhello\r\n0\r\n\r\n',
  'an LF only after the last size': '5\r\nhello\r\n0\n\r\n',
  'an LF only as the end': '5\r\nhello\r\n0\r\n\n',
  'two bytes other than CRLF at the end': '5\r\nhello\r\n0\r\nXX',
  'a blank after the size and the extension': '5;a \r\nhello\r\n0\r\n\r\n',
  'a blank and no semicolon before a name': '5 a\r\nhello\r\n0\r\n\r\n',
  'an extension with a vertical tab': '5\x0b;a\r\nhello\r\n0\r\n\r\n',
  'an extension with a bare LF': '5;a\nb\r\nhello\r\n0\r\n\r\n',
  'an extension with a bare CR': '5;a\rb\r\nhello\r\n0\r\n\r\n',
  'an extension with a NUL': '5;a\0b\r\nhello\r\n0\r\n\r\n',
  'an extension of 100 kB': `5;${'a'.repeat(100_000)}\r\nhello\r\n0\r\n\r\n`,
  'a trailer without a colon': '0\r\nX-Name\r\n\r\n',
  'a trailer with a space before the colon': '0\r\nX-Name : a\r\n\r\n',
  'a folded trailer': '0\r\nX-Name: a\r\n b\r\n\r\n',
  'a trailer with a bare LF': '0\r\nX-Name: a\n\r\n',
  'a trailer with a NUL': '0\r\nX-Name: a\0\r\n\r\n',
  'a trailer of 200 kB': `0\r\nX-Name: ${'a'.repeat(200_000)}\r\n\r\n`,
  '10,000 trailers': `0\r\n${'X-Name: a\r\n'.repeat(10_000)}\r\n`,
};

describe('malformed chunks', { concurrency: 32 }, () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig();
  });
  after(async () => {
    const complete = rig.backend.requests.filter((request) => request.complete);
    await rig.close();
    assert.deepEqual(
      complete.map((request) => request.raw),
      [],
      'the backend saw a complete request',
    );
  });

  for (const [what, body] of Object.entries(bad)) {
    it(`refuses ${what}`, async () => {
      using client = await openClient(rig.port);
      client.write(head + body + next);
      const answer = await client.readResponse();
      assert.ok(answer.status === 400 || answer.status === 413, `status ${answer.status}`);
      assert.equal(answer.get('connection')?.toLowerCase(), 'close');
      assert.equal((await client.readToEnd()).text, '');
    });
  }

  for (const [what, body] of [
    ['a chunk', '5\r\nhel'],
    ['a size', '5'],
    ['the CRLF after the data', '5\r\nhello\r'],
    ['the trailers', '5\r\nhello\r\n0\r\nX-A: b\r\n'],
  ] as const) {
    it(`never completes a body that ends inside ${what}`, async () => {
      using client = await openClient(rig.port);
      client.write(head + body);
      client.end();
      const { text } = await client.readToEnd();
      assert.doesNotMatch(text, /^HTTP\/1\.1 2/);
    });
  }
});

describe('well-formed chunks', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig();
  });
  after(() => rig.close());

  const good: Readonly<Record<string, readonly [wire: string, body: string]>> = {
    'lower-case and upper-case sizes': ['a\r\n0123456789\r\nA\r\n9876543210\r\n0\r\n\r\n', '01234567899876543210'],
    'leading zeros': ['0005\r\nhello\r\n000\r\n\r\n', 'hello'],
    'leading zeros up to 64 bits': ['0000000000000005\r\nhello\r\n0000000000000000\r\n\r\n', 'hello'],
    'blanks around an extension': ['5 ;\tname = value ; b="c"\r\nhello\r\n0\t;last\r\n\r\n', 'hello'],
    'a short extension': ['5;name=value\r\nhello\r\n0;last\r\n\r\n', 'hello'],
    'an empty body': ['0\r\n\r\n', ''],
    'data that looks like framing': ['9\r\n\r\n0\r\n\r\n0\r\r\n0\r\n\r\n', '\r\n0\r\n\r\n0\r'],
  };
  for (const [what, [wire, body]] of Object.entries(good)) {
    it(`are accepted with ${what}`, async () => {
      const answer = await exchangeOne(rig.port, head + wire);
      assert.equal(answer.status, 200);
      const request = rig.backend.requests.at(-1);
      assert.equal(request?.body, body);
      assert.doesNotMatch(request?.connection.received ?? '', /name=value|;last/);
    });
  }

  it('lose trailers that would change the framing, the route or the identity', async () => {
    const trailers = [
      'Content-Length: 5',
      'Transfer-Encoding: chunked',
      'Host: evil.example',
      'Connection: close',
      'Authorization: Basic x',
      'X-Consumer-Id: 1',
      'X-Kept: yes',
    ];
    const answer = await exchangeOne(rig.port, `${head}5\r\nhello\r\n0\r\n${trailers.join('\r\n')}\r\n\r\n`);
    assert.equal(answer.status, 200);
    const request = rig.backend.requests.at(-1);
    assert.equal(request?.body, 'hello');
    assert.doesNotMatch(
      request?.trailers ?? '',
      /content-length|transfer-encoding|host|connection|authorization|x-consumer/i,
    );
  });
});
