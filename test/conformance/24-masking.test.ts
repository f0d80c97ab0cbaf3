import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync, deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import { answerEach } from '../support/raw-backend.ts';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { until } from '../support/until.ts';

/** Case 24: masked values do not get through in any encoding, in either direction, nor into a log. */

const secret = 'gehe1m';
const mail = `${secret}@example.com`;

const rules = [
  {
    name: 'paths',
    json_paths: ['$..secret'],
    xml_paths: ['//secret', '//@secret'],
    form_fields: ['secret'],
    headers: ['X-Secret'],
    query_arguments: ['secret'],
  },
  { name: 'kinds', kinds: ['email'], mask_names: true },
  { name: 'heads', kinds: ['email'], in: ['headers', 'query'] },
];

/** A message to be sent, by a client or a backend. */
interface Message {
  readonly type?: string;
  readonly lines?: string;
  readonly body: string | Uint8Array;
}

const json = 'application/json';
const xml = 'application/xml';
const form = 'application/x-www-form-urlencoded';

function multipart(head: string, body: string): Message {
  return {
    type: 'multipart/form-data; boundary=X',
    body: `--X\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n--X--\r\n`,
  };
}

/** Each may be masked or refused. */
const ways: Readonly<Record<string, Message>> = {
  plain: { type: json, body: `{"secret":"${secret}"}` },
  'first of two members': { type: json, body: `{"secret":"${secret}","secret":1,"x":"${mail}","x":2}` },
  'second of two members': { type: json, body: `{"secret":1,"secret":"${secret}"}` },
  'escaped name': { type: json, body: `{"\\u0073ecret":"${secret}"}` },
  'escaped value': {
    type: json,
    body: `["${[...mail].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"]`,
  },
  'name that means something': {
    type: json,
    body: `{"__proto__":{"secret":"${secret}"},"constructor":{"prototype":"${mail}"}}`,
  },
  'name that is one': { type: json, body: `{"${mail}":1}` },
  'byte order mark': { type: json, body: Buffer.from(`\ufeff{"secret":"${secret}"}`) },
  'UTF-16': { type: json, body: Buffer.from(`{"secret":"${secret}"}`, 'utf16le') },
  'UTF-16, told': { type: `${json}; charset=utf-16`, body: Buffer.from(`\ufeff{"secret":"${secret}"}`, 'utf16le') },
  'other charset': { type: `${json}; charset=utf-7`, body: `{"secret":"${secret}"}` },
  'bytes that are not UTF-8': { type: json, body: Buffer.from(`{"secret":"${secret}","x":"\xff"}`, 'latin1') },
  'text behind the end': { type: json, body: `{"a":1} {"secret":"${secret}"}` },
  'single quotes': { type: json, body: `{'secret':'${secret}'}` },
  comment: { type: json, body: `{"a":1 /* "secret":"${secret}" */}` },
  deep: { type: json, body: `${'['.repeat(100_000)}{"secret":"${secret}"}${']'.repeat(100_000)}` },
  'as text': { type: 'text/plain', body: `{"secret":"${secret}"}` },
  'as text behind a mark': { type: 'text/plain', body: Buffer.from(`\ufeff \n{"secret":"${secret}"}`) },
  'without a type': { body: `{"secret":"${secret}"}` },
  'as an image': { type: 'image/png', body: `{"secret":"${secret}"}` },
  'as bytes': { type: 'application/octet-stream', body: `{"secret":"${secret}"}` },
  'broken type': { type: 'application/json/', body: `{"secret":"${secret}"}` },
  'two types': { type: json, lines: 'Content-Type: image/png\r\n', body: `{"secret":"${secret}"}` },
  'type with another behind it': { type: 'image/png, application/json', body: `{"secret":"${secret}"}` },
  lines: { type: 'application/x-ndjson', body: `{"a":1}\n{"secret":"${secret}"}\n` },
  compressed: { type: json, lines: 'Content-Encoding: gzip\r\n', body: gzipSync(`{"secret":"${secret}"}`) },
  'compressed twice': {
    type: json,
    lines: 'Content-Encoding: br, gzip\r\n',
    body: gzipSync(brotliCompressSync(`{"secret":"${secret}"}`)),
  },
  'compressed, and not told': { type: json, body: deflateSync(`{"secret":"${secret}"}`) },
  'told to be compressed': { type: json, lines: 'Content-Encoding: gzip\r\n', body: `{"secret":"${secret}"}` },
  'unknown coding': { type: json, lines: 'Content-Encoding: x-nothing\r\n', body: `{"secret":"${secret}"}` },
  identity: { type: json, lines: 'Content-Encoding: identity\r\n', body: `{"secret":"${secret}"}` },
  bomb: {
    type: json,
    lines: 'Content-Encoding: gzip\r\n',
    body: gzipSync(`{"secret":"${secret}","x":"${'x'.repeat(20_000_000)}"}`),
  },
  'two members of gzip': {
    type: json,
    lines: 'Content-Encoding: gzip\r\n',
    body: Buffer.concat([gzipSync('{"a":1,'), gzipSync(`"secret":"${secret}"}`)]),
  },
  'XML element': { type: xml, body: `<a><secret>${secret}</secret></a>` },
  'XML attribute': { type: xml, body: `<a secret="${secret}"/>` },
  'XML prefix': { type: xml, body: `<a xmlns:p="urn:p"><p:secret p:secret="${secret}">${secret}</p:secret></a>` },
  'XML sections': { type: xml, body: `<a>gehe<![CDATA[1m@exa]]>mple.com<secret><![CDATA[${secret}]]></secret></a>` },
  'XML comment': { type: xml, body: `<a><!-- ${mail} ${secret} --></a>` },
  'XML references': { type: xml, body: `<a>gehe1m&#64;example.com<secret>&#x67;ehe1m</secret></a>` },
  'XML instruction': { type: xml, body: `<?x ${mail}?><a/>` },
  'XML entity': { type: xml, body: `<!DOCTYPE a [<!ENTITY s "${secret}">]><a>&s;</a>` },
  'XML entity of a parameter': {
    type: xml,
    body: `<!DOCTYPE a [<!ENTITY % s SYSTEM "http://127.0.0.1:1/${secret}">%s;]><a/>`,
  },
  'XML in UTF-16': { type: xml, body: Buffer.from(`\ufeff<a><secret>${secret}</secret></a>`, 'utf16le') },
  'XML that tells another encoding': { type: xml, body: `<?xml version="1.0" encoding="UTF-7"?><a>${secret}</a>` },
  'XML as text': { type: 'text/plain', body: `<?xml version="1.0"?><secret>${secret}</secret>` },
  form: { type: form, body: `a=1&secret=${secret}&secret=${secret}` },
  'form, escaped': { type: form, body: `%73ecret=${secret}&x=gehe1m%40example.com&y=%67ehe1m%2540example.com` },
  'form, escaped wrongly': { type: form, body: `secret=${secret}%zz` },
  'form in another charset': { type: `${form}; charset=utf-16`, body: `secret=${secret}` },
  'name in a form': { type: form, body: `gehe1m%40example.com=1&gehe1m%40example.com` },
  'part of a form': multipart('name="secret"', secret),
  'part by another name': multipart('name="x"', mail),
  'part that is a file': multipart(
    'name="x"; filename="x.json"\r\nContent-Type: application/json',
    `{"secret":"${secret}"}`,
  ),
  'part that is a file of another type': multipart(
    'name="x"; filename="x"\r\nContent-Type: image/png',
    `{"secret":"${secret}"}`,
  ),
  'part with a coding': multipart(
    'name="secret"\r\nContent-Transfer-Encoding: base64',
    Buffer.from(secret).toString('base64'),
  ),
  'part with two names': multipart(`name="x"; name="secret"`, secret),
  'name of a file': multipart(`name="x"; filename="${mail}"`, 'x'),
  'boundary that is none': { type: 'multipart/form-data; boundary=Y', body: multipart('name="secret"', secret).body },
  'stream of events': { type: 'text/event-stream', body: `data: {"secret":"${secret}"}\n\n` },
  text: { type: 'text/csv', body: `a;${mail};b` },
  'text with a zero byte': { type: 'text/plain', body: `\0${mail}` },
  header: { type: json, lines: `X-Secret: ${secret}\r\nX-Secret: a ${secret}\r\nX-Other: <${mail}>\r\n`, body: '{}' },
};

/** Only for requests. */
const underscores = `X_Secret: ${secret}\r\n`;

function bytesOf({ type, lines = '', body }: Message, start: string): Buffer {
  const bytes = Buffer.from(body);
  const head = `${start}\r\n${type === undefined ? '' : `Content-Type: ${type}\r\n`}${lines}Content-Length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** Plain, and in the encodings that a reader might undo. */
function has(text: string): boolean {
  const bytes = Buffer.from(text, 'latin1');
  const plain = text
    .replaceAll('\0', '')
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  if (text.includes(secret) || plain.includes(secret) || text.includes(Buffer.from(secret).toString('base64')))
    return true;
  const start = bytes.indexOf('\r\n\r\n') + 4;
  return [gunzipSync, inflateSync].some((undo) => undone(undo, bytes.subarray(start))?.includes(secret) === true);
}

function undone(undo: (bytes: Buffer) => Buffer, bytes: Buffer): Buffer | null {
  try {
    return undo(bytes);
  } catch {
    return null;
  }
}

describe('masked values', () => {
  let rig: Rig;
  let reply: Buffer = Buffer.alloc(0);
  let sent = 0;

  before(async () => {
    rig = await startRig({
      script: answerEach(() => reply.toString('latin1')),
      settings: { plugins: ['data-masking'], logLevel: 'debug' },
    });
    await rig.write('POST', '/plugins', { name: 'data-masking', config: { rules } });
  });
  after(() => rig.close());

  const fine = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';

  async function request(
    message: Message,
    target = '/',
  ): Promise<{ readonly status: number; readonly seen: string; readonly answer: string }> {
    reply = Buffer.from(fine);
    const before = rig.backend.received.length;
    sent++;
    const response = await exchangeOne(
      rig.port,
      bytesOf(message, `POST ${target} HTTP/1.1\r\nHost: a\r\nConnection: close`),
      'POST',
    );
    return { status: response.status, seen: rig.backend.received.slice(before), answer: response.raw + response.body };
  }

  for (const [name, message] of Object.entries(ways)) {
    it(`do not reach a backend: ${name}`, async () => {
      const { status, seen, answer } = await request(message);
      assert.ok([200, 400, 413, 415].includes(status), String(status));
      assert.equal(status === 200, seen !== '', `status ${status}`);
      assert.ok(!has(seen), seen.slice(0, 500));
      assert.ok(!has(answer), answer.slice(0, 500));
    });

    it(`do not reach a client: ${name}`, async () => {
      reply = bytesOf(message, 'HTTP/1.1 200 OK');
      sent++;
      const response = await exchangeOne(
        rig.port,
        'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAccept-Encoding: gzip\r\n\r\n',
      );
      assert.ok([200, 502].includes(response.status), String(response.status));
      assert.ok(!has(response.raw + response.body), response.body.slice(0, 500));
    });
  }

  it('do not reach a backend in queries and headers in any encoding', async () => {
    const targets = [
      `/?secret=${secret}`,
      `/?a&%73ecret=${secret}&secret=${secret}`,
      `/?x=gehe1m%40example.com`,
      `/?x=${mail}`,
      `/?secret=%67ehe1m#`,
    ];
    for (const target of targets) {
      const { seen } = await request({ type: json, body: '{}' }, target);
      assert.ok(!has(seen), seen);
    }
    const { seen } = await request({ type: json, lines: underscores, body: '{}' });
    assert.ok(!has(seen), seen);
  });

  it('do not reach a client in trailers, a partial answer, a 304, an error or a redirect', async () => {
    const chunked = `Content-Type: ${json}\r\nTransfer-Encoding: chunked\r\nTrailer: X-Secret, X-Other\r\n\r\n2\r\n{}\r\n0\r\nX-Secret: ${secret}\r\nX-Other: ${mail}\r\n\r\n`;
    const replies = [
      `HTTP/1.1 200 OK\r\n${chunked}`,
      `HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 11-20/30\r\nContent-Type: ${json}\r\nContent-Length: 9\r\n\r\n"${secret}"}`,
      `HTTP/1.1 304 Not Modified\r\nX-Secret: ${secret}\r\n\r\n`,
      `HTTP/1.1 500 Internal Server Error\r\nContent-Type: ${json}\r\nContent-Length: 19\r\n\r\n{"secret":"${secret}"}`,
      `HTTP/1.1 302 Found\r\nLocation: /?mail=${mail}\r\nX-Secret: ${secret}\r\nContent-Length: 0\r\n\r\n`,
    ];
    for (const text of replies) {
      reply = Buffer.from(text);
      sent++;
      const response = await exchangeOne(
        rig.port,
        'GET / HTTP/1.1\r\nHost: a\r\nConnection: close, TE\r\nTE: trailers\r\nRange: bytes=11-20\r\nIf-None-Match: "a"\r\n\r\n',
      );
      assert.ok(
        !has(response.raw + response.body + response.trailers),
        response.raw + response.body + response.trailers,
      );
    }
    assert.doesNotMatch(rig.backend.received, /^range:/im);
  });

  it('are in no log', async () => {
    for (const broken of [
      `GET /?secret=${secret}&x=${mail} HTTP/1.1\r\nHost: a\r\nNo colon\r\n\r\n`,
      `GET /?secret=${secret} HTTP/9.9\r\nHost: a\r\n\r\n`,
    ]) {
      sent++;
      await exchangeOne(rig.port, broken);
    }
    const logs = async () => {
      const names = (await readdir(rig.gateway.prefix)).filter((name) => name.endsWith('.log'));
      return await Promise.all(
        names.map(async (name) => [name, await readFile(join(rig.gateway.prefix, name), 'utf8')] as const),
      );
    };
    await until(async () => Object.fromEntries(await logs())['access.log']!.split('\n').length > sent);
    for (const [name, text] of await logs()) {
      for (const line of text.split('\n')) assert.ok(!has(line), `${name}: ${line}`);
    }
  });
});
