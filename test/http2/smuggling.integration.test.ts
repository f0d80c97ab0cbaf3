import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  Code,
  encodeFields,
  type Fields,
  Flag,
  Frame,
  frame,
  getFields,
  openFrames,
  type StreamRecord,
} from '../support/http2-frames.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { answer, answerEach } from '../support/raw-backend.ts';

/** Bytes of a name (RFC 9110 5.6.2), in lower case (RFC 9113 8.2.1). */
const nameBytes = new Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz");

const allBytes: readonly string[] = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
/** Requests on one connection: fewer than the malformed ones that end it. */
const perConnection = 50;

/** What a backend that speaks HTTP/1.1 sees of fields that only HTTP/2 can carry. */
describe('fields of HTTP/2 requests', () => {
  let rig: Http2Rig;
  before(async () => {
    rig = await startHttp2Rig({ script: answerEach(() => answer('ok')) });
  });
  after(() => rig?.close());

  /** Sends each list as a request; returns what came back, and what the backend saw of it (null: nothing). */
  async function send(lists: readonly Fields[]) {
    const results: { record: StreamRecord; seen: (typeof rig.backend.requests)[number] | null }[] = [];
    for (let at = 0; at < lists.length; at += perConnection) {
      using client = await openFrames(rig.port);
      for (const [index, list] of lists.slice(at, at + perConnection).entries()) {
        const before = rig.backend.requests.length;
        client.request(2 * index + 1, list);
        const record = await client.finished(2 * index + 1);
        assert.equal(client.goawayCode, null);
        assert.equal(client.closed, false);
        const more = rig.backend.requests.slice(before);
        assert.ok(more.length <= 1, 'more than one request');
        results.push({ record, seen: more[0] ?? null });
      }
    }
    return results;
  }

  function assertRefused({ record, seen }: { record: StreamRecord; seen: unknown }, what: string): void {
    assert.ok(record.code === Code.protocolError || record.status === 400, `${what}: ${JSON.stringify(record)}`);
    assert.equal(seen, null, `${what}: the backend saw it`);
  }

  for (const [where, place] of [
    ['first', (byte: string) => `${byte}x`],
    ['in the middle', (byte: string) => `x${byte}y`],
    ['last', (byte: string) => `x-a${byte}`],
  ] as const) {
    it(`are refused when a name has a byte that no name has, ${where}`, async () => {
      const results = await send(allBytes.map((byte) => getFields('/name', [[place(byte), 'v']])));
      for (const [at, result] of results.entries()) {
        const byte = allBytes[at] as string;
        const name = place(byte);
        const what = `byte ${at}`;
        // Other parsers take an underscore for a hyphen: such a field is dropped or refused, as over HTTP/1.1.
        if (nameBytes.has(byte)) assert.equal(result.record.status, 200, what);
        else assertRefused(result, what);
        if (nameBytes.has(byte) && byte !== '_') assert.equal(result.seen?.get(name), 'v', what);
      }
    });
  }

  for (const [where, place] of [
    ['first', (byte: string) => `${byte}v`],
    ['in the middle', (byte: string) => `v${byte}v`],
    ['last', (byte: string) => `v${byte}`],
    ['alone', (byte: string) => byte],
  ] as const) {
    it(`are refused when a value has a control byte or a blank at its end, ${where}`, async () => {
      const results = await send(allBytes.map((byte) => getFields('/value', [['x-a', place(byte)]])));
      for (const [at, result] of results.entries()) {
        const blank = at === 0x20 || at === 0x09;
        const what = `byte ${at}`;
        if ((at < 0x20 && at !== 0x09) || at === 0x7f) assertRefused(result, what);
        else if (blank && where !== 'in the middle') {
          // RFC 9113 8.2.1: malformed. Without the blank it means the same over HTTP/1.1.
          if (result.record.status === 200) assert.equal(result.seen?.get('x-a'), place(allBytes[at] as string).trim());
          else assertRefused(result, what);
        } else {
          assert.equal(result.record.status, 200, what);
          assert.equal(result.seen?.get('x-a'), place(allBytes[at] as string).trim(), what);
        }
      }
    });
  }

  for (const name of [':path', ':authority', ':method', ':scheme'] as const) {
    it(`reach the backend as what they are, or not at all: every byte in ${name}`, async () => {
      const lists = allBytes.flatMap((byte) =>
        [`${byte}`, `a${byte}b`, `/a${byte}`].map((text) =>
          getFields('/x').map(([key, value]) => [key, key === name ? text : value] as const),
        ),
      );
      const results = await send(lists);
      for (const [at, { record, seen }] of results.entries()) {
        const what = `${name}: ${JSON.stringify(lists[at]?.find(([key]) => key === name)?.[1])}`;
        if (seen === null) {
          assert.ok(record.code === Code.protocolError || [400, 404, 405, 501].includes(record.status), what);
          continue;
        }
        // One line of three words, one Host, and nothing that the client did not send as a field.
        assert.match(seen.startLine, /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ \/[\x21-\x7e]* HTTP\/1\.1$/, what);
        assert.equal(seen.all('host').length, 1, what);
        assert.match(seen.get('host') ?? '', /^[\w.:[\]%!$&'()*+,;=~-]+$/, what);
        assert.equal(seen.framing, 'none', what);
      }
      assert.ok(results.some(({ seen }) => seen !== null) || name === ':scheme');
    });
  }

  /** Framing of the HTTP/1.1 message is the gateway's: fields of the client never decide it. */
  const framing: Readonly<
    Record<string, { readonly fields: Fields; readonly body: string; readonly served: boolean }>
  > = {
    'transfer-encoding: chunked': {
      fields: [['transfer-encoding', 'chunked']],
      body: '0\r\n\r\nGET /evil HTTP/1.1\r\n\r\n',
      served: false,
    },
    'transfer-encoding: identity': { fields: [['transfer-encoding', 'identity']], body: 'abc', served: false },
    transfer_encoding: {
      fields: [['transfer_encoding', 'chunked']],
      body: '0\r\n\r\nGET /evil HTTP/1.1\r\n\r\n',
      served: false,
    },
    'a length of 0 with a body': {
      fields: [['content-length', '0']],
      body: 'GET /evil HTTP/1.1\r\n\r\n',
      served: false,
    },
    'a length that is too small': {
      fields: [['content-length', '3']],
      body: 'abcGET /evil HTTP/1.1\r\n\r\n',
      served: false,
    },
    'a length that is too large': { fields: [['content-length', '30']], body: 'abc', served: false },
    'the same length twice': {
      fields: [
        ['content-length', '3'],
        ['content-length', '3'],
      ],
      body: 'abc',
      served: false,
    },
    'two lengths': {
      fields: [
        ['content-length', '3'],
        ['content-length', '4'],
      ],
      body: 'abc',
      served: false,
    },
    'a list of lengths': { fields: [['content-length', '3, 3']], body: 'abc', served: false },
    'a length with a sign': { fields: [['content-length', '+3']], body: 'abc', served: false },
    'a length with leading zeros': { fields: [['content-length', '003']], body: 'abc', served: true },
    'a length in hexadecimal': { fields: [['content-length', '0x3']], body: 'abc', served: false },
    'an empty length': { fields: [['content-length', '']], body: 'abc', served: false },
    'a length of 20 digits': { fields: [['content-length', '99999999999999999999']], body: 'abc', served: false },
    'a body that looks like a request': { fields: [], body: 'GET /evil HTTP/1.1\r\nHost: a\r\n\r\n', served: true },
    'connection that names a field': {
      fields: [
        ['connection', 'x-a'],
        ['x-a', 'b'],
      ],
      body: 'abc',
      served: false,
    },
    'te: trailers': { fields: [['te', 'trailers']], body: 'abc', served: true },
    'te: chunked': { fields: [['te', 'chunked']], body: 'abc', served: false },
    'http2-settings': { fields: [['http2-settings', 'AAMAAABkAAQAAP__']], body: 'abc', served: true },
    trailer: { fields: [['trailer', 'content-length']], body: 'abc', served: true },
  };

  for (const [what, { fields, body, served }] of Object.entries(framing)) {
    it(`do not decide the framing at the backend: ${what}`, async () => {
      using client = await openFrames(rig.port);
      const before = rig.backend.requests.length;
      const post = getFields('/framing', fields).map(
        ([key, value]) => [key, key === ':method' ? 'POST' : value] as const,
      );
      client.request(1, post, false);
      client.write(frame(Frame.data, Flag.endStream, 1, body));
      const record = await client.finished(1);
      // A second one on the same connection to the backend would show what is left of the first.
      client.request(3, getFields('/after'));
      assert.equal((await client.finished(3)).status, 200);
      const seen = rig.backend.requests.slice(before);
      assert.equal(record.status === 200, served, JSON.stringify(record));
      const complete = seen.filter((request) => request.complete);
      // A request without a body is complete with its head.
      const headIsAll = fields.some(([name, value]) => name === 'content-length' && value === '0');
      assert.deepEqual(
        complete.map(({ target }) => target),
        served || headIsAll ? ['/framing', '/after'] : ['/after'],
      );
      if (served) assert.equal(seen[0]?.body, body);
      for (const request of seen) {
        assert.ok(request.all('content-length').length + request.all('transfer-encoding').length <= 1);
        assert.equal(request.get('connection') ?? 'keep-alive', 'keep-alive');
        for (const name of ['http2-settings', 'upgrade', 'transfer_encoding'])
          assert.equal(request.get(name), undefined, name);
      }
    });
  }

  const trailers: Readonly<Record<string, Fields>> = {
    'transfer-encoding': [['transfer-encoding', 'chunked']],
    'content-length': [['content-length', '3']],
    host: [['host', 'other.example']],
    ':path': [[':path', '/evil']],
    ':status': [[':status', '200']],
    connection: [['connection', 'close']],
    'an upper-case name': [['X-Evil', '1']],
    'CR and LF in a value': [['x-t', 'a\r\nx-evil: 1']],
    'CR and LF in a name': [['x-t: 1\r\nx-evil', '1']],
    'an empty line in a value': [['x-t', 'a\r\n\r\nGET /evil HTTP/1.1\r\n\r\n']],
    'NUL in a value': [['x-t', 'x\0evil']],
    'an empty name': [['', 'evil']],
  };
  for (const [what, list] of Object.entries(trailers)) {
    it(`in trailers add nothing to the request: ${what}`, async () => {
      using client = await openFrames(rig.port);
      const before = rig.backend.received.length;
      client.request(1, getFields('/trailers', [['te', 'trailers']]), false);
      client.write(frame(Frame.data, 0, 1, 'abc'), frame(Frame.headers, 5, 1, encodeFields(list)));
      const { status, code } = await client.finished(1);
      assert.ok(status === 200 || status === 400 || code === Code.protocolError, `status ${status}, code ${code}`);
      client.request(3, getFields('/after'));
      assert.equal((await client.finished(3)).status, 200);
      const received = rig.backend.received.slice(before);
      assert.ok(!/evil/i.test(received));
      assert.ok(!/^host: other/im.test(received));
      assert.ok(!/chunked[\s\S]*transfer-encoding/i.test(received.split('\r\n\r\n').slice(1).join('')));
    });
  }
});
