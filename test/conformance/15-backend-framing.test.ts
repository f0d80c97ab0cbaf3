import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { answer, type BackendConnection, byName } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 15, heads and framing: answers are parsed as strictly as requests. */
const ok = 'HTTP/1.1 200 OK\r\n';
function withLines(lines: string, body = 'hello'): string {
  return `${ok}${lines}\r\n${body}`;
}

const badHeads: Record<string, string> = {
  // Cases 1 to 4.
  'a length and chunked': withLines('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
  'chunked and a length': withLines('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', '0\r\n\r\n'),
  'gzip before chunked': withLines('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'),
  'chunked before identity': withLines('Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n'),
  identity: withLines('Transfer-Encoding: identity\r\n'),
  'an unknown coding': withLines('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'),
  'chunked twice': withLines('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
  'a vertical tab after chunked': withLines('Transfer-Encoding: chunked\x0b\r\n', '0\r\n\r\n'),
  'chunked on HTTP/1.0': 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'an empty length': withLines('Content-Length: \r\n'),
  'a signed length': withLines('Content-Length: +5\r\n'),
  'a negative length': withLines('Content-Length: -5\r\n'),
  'a list of lengths': withLines('Content-Length: 5,5\r\n'),
  'a hexadecimal length': withLines('Content-Length: 0x5\r\n'),
  'a length of 20 digits': withLines('Content-Length: 10000000000000000005\r\n'),
  'two equal lengths': withLines('Content-Length: 5\r\nContent-Length: 5\r\n'),
  'two different lengths': withLines('Content-Length: 5\r\nContent-Length: 6\r\n'),
  // Case 5.
  'a space before the colon': withLines('Content-Length : 5\r\n'),
  'a space before a name': withLines(' Content-Length: 5\r\n'),
  'a line without a colon': withLines('Content-Length: 5\r\nX-Name\r\n'),
  'an empty name': withLines('Content-Length: 5\r\n: a\r\n'),
  'a folded line': withLines('Content-Length: 5\r\nX-A: b\r\n c\r\n'),
  'bare LFs': 'HTTP/1.1 200 OK\nContent-Length: 5\n\nhello',
  'one bare LF': withLines('Content-Length: 5\nX-A: b\r\n'),
  'a bare CR': withLines('Content-Length: 5\r\nX-A: b\rX-B: c\r\n'),
  'a NUL in a value': withLines('Content-Length: 5\r\nX-A: b\0c\r\n'),
  'a NUL in a name': withLines('Content-Length: 5\r\nX-\0A: b\r\n'),
  'a control byte in a value': withLines('Content-Length: 5\r\nX-A: b\x01c\r\n'),
  'a byte above 0x7f in a name': withLines('Content-Length: 5\r\nX-\xc4: b\r\n'),
  // The status line.
  'no status line': '<html>hello</html>',
  'an SSH greeting': 'SSH-2.0-OpenSSH_9.2\r\n',
  'a status of two digits': 'HTTP/1.1 20 OK\r\nContent-Length: 5\r\n\r\nhello',
  'a status of four digits': 'HTTP/1.1 2000 OK\r\nContent-Length: 5\r\n\r\nhello',
  'a status below 100': 'HTTP/1.1 099 OK\r\nContent-Length: 5\r\n\r\nhello',
  'a status with a letter': 'HTTP/1.1 2x0 OK\r\nContent-Length: 5\r\n\r\nhello',
  'two spaces before the status': 'HTTP/1.1  200 OK\r\nContent-Length: 5\r\n\r\nhello',
  'a tab before the status': 'HTTP/1.1\t200 OK\r\nContent-Length: 5\r\n\r\nhello',
  'a lower-case protocol': 'http/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  'HTTP/2.0': 'HTTP/2.0 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  'HTTP/1.2': 'HTTP/1.2 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  'a NUL in the reason': 'HTTP/1.1 200 O\0K\r\nContent-Length: 5\r\n\r\nhello',
  'bytes before the status line': 'xHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  'an empty line before the status line': '\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  // Size and number.
  'a head of 100 kB in one line': withLines(`Content-Length: 5\r\nX-A: ${'a'.repeat(100_000)}\r\n`),
  '10,000 lines': withLines(`Content-Length: 5\r\n${'X-A: b\r\n'.repeat(10_000)}`),
  'informational answers without end': 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(1000),
};

async function sendAndWait(connection: BackendConnection, bytes: string): Promise<void> {
  connection.write(bytes);
  // The gateway has to close this connection; if it sent another request here, the script would record it.
  for (;;) await connection.readRequest();
}

describe('malformed heads of a backend', { concurrency: 32 }, () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      script: byName({
        ...Object.fromEntries(
          Object.entries(badHeads).map(([what, bytes]) => [what, (connection) => sendAndWait(connection, bytes)]),
        ),
        good: (connection) => connection.write(answer('good')),
      }),
      service: { read_timeout: 3000 },
    });
  });
  after(() => rig.close());

  for (const what of Object.keys(badHeads)) {
    it(`cause a 502: ${what}`, async () => {
      const target = `/${encodeURIComponent(what)}`;
      using client = await openClient(rig.port);
      client.write(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
      let response = await client.readResponse();
      while (response.status < 200) response = await client.readResponse();
      assert.equal(response.status, 502);
      assert.match(
        response.body,
        /^An invalid response was received from the upstream server\nrequest_id: [0-9a-f]{32}\n$/,
      );
      assert.match(response.get('content-type') ?? '', /^text\/plain/);

      const carried = await rig.backend.request((request) => request.target === target);
      await carried.connection.closed;
      assert.ok(carried.connection.received.endsWith(carried.raw), 'the connection carried another request');

      // The client's own connection is unharmed.
      client.write('GET /good HTTP/1.1\r\nHost: a\r\n\r\n');
      assert.equal((await client.readResponse()).body, 'good');
    });
  }
});

const goodHeads: Record<string, string> = {
  'a length with a blank behind it': withLines('Content-Length: 5 \r\n'),
  'a length between tabs': withLines('Content-Length:\t5\t\t\r\n'),
  'a length with leading zeros': withLines('Content-Length: 0000000000000000005\r\n'),
  'chunked between blanks': withLines('Transfer-Encoding: \t chunked \r\n', '5\r\nhello\r\n0\r\n\r\n'),
  'chunk extensions between blanks': withLines(
    'Transfer-Encoding: chunked\r\n',
    '5 ; a = b\r\nhello\r\n0000000000000000 ;c\r\n\r\n',
  ),
};

/** Case 46: unusual framing that RFC 9112 allows is accepted, and forwarded normalised. */
describe('unusual but valid framing of a backend', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      script: byName(
        Object.fromEntries(
          Object.entries(goodHeads).map(([what, bytes]) => [what, (connection) => connection.write(bytes)]),
        ),
      ),
    });
  });
  after(() => rig.close());

  for (const what of Object.keys(goodHeads)) {
    it(`is accepted: ${what}`, async () => {
      using client = await openClient(rig.port);
      for (let turn = 0; turn < 2; turn++) {
        client.write(`GET /${encodeURIComponent(what)} HTTP/1.1\r\nHost: a\r\n\r\n`);
        const response = await client.readResponse();
        assert.equal(response.status, 200);
        assert.equal(response.body, 'hello');
        assert.match(response.raw, /\r\n(?:Content-Length: 5|Transfer-Encoding: chunked)\r\n/);
      }
    });
  }
});
