import assert from 'node:assert/strict';
import { test } from 'node:test';
import zlib from 'node:zlib';
import { type TestBackend, type TestOutcome, testPlugin } from '../../plugin-testing/index.ts';
import { type Coding, preferredCoding } from './accept-encoding.ts';
import { Encoder } from './encoder.ts';
import { Engines } from './engines.ts';
import compression from './index.ts';

const decoders = { gzip: zlib.gunzipSync, br: zlib.brotliDecompressSync, zstd: zlib.zstdDecompressSync };
const engines = new Engines({ gzip: 5, br: 4, zstd: 3 });
const all: readonly Coding[] = ['zstd', 'br', 'gzip'];
const text = 'It was the best of times. '.repeat(400);

function ask(
  backend: TestBackend,
  headers: Readonly<Record<string, string | readonly string[]>> = { 'Accept-Encoding': 'gzip' },
  config: Readonly<Record<string, unknown>> = {},
  method = 'GET',
): Promise<TestOutcome> {
  return testPlugin(compression, { config }).request({ method, headers, backend });
}

function plain(fields: Readonly<Record<string, string>> = {}, body: TestBackend['body'] = text): TestBackend {
  return { headers: { 'Content-Type': 'text/plain', ...fields }, body };
}

test('chooses by weight, then by the order offered', () => {
  const cases: readonly (readonly [string | null, Coding | null])[] = [
    [null, null],
    ['', null],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip;q=0.9, br;q=0.8', 'gzip'],
    ['gzip;q=0', null],
    ['GZIP ; Q=0.5', 'gzip'],
    ['x-gzip', 'gzip'],
    ['*', 'zstd'],
    ['*, zstd;q=0, br;q=0', 'gzip'],
    ['*;q=0', null],
    ['identity, gzip;q=0.5', null],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity;q=0.4, gzip;q=0.5', 'gzip'],
    ['gzip;q=1.5', null],
    ['gzip;q=0.1234', null],
    ['gzip;level=9', null],
    ['snappy', null],
    ['gz ip, br', 'br'],
    ['gzip;q=0.000, gzip;q=0.001', 'gzip'],
  ];
  for (const [field, coding] of cases) assert.equal(preferredCoding(field, all).coding, coding, String(field));
  assert.equal(preferredCoding('gzip, identity;q=0', all).mustCode, true);
  assert.equal(preferredCoding('gzip, *;q=0', all).mustCode, true);
  assert.equal(preferredCoding('gzip, *;q=0.1', all).mustCode, false);
  assert.deepEqual(preferredCoding('gzip', ['br']), { coding: null, mustCode: false });
});

test('round-trips every coding with any chunks and flushes', () => {
  const body = Buffer.alloc(300_000);
  for (let at = 0; at < body.byteLength; at++) body[at] = (at * at * 31 + (at >> 7)) & (at % 5 === 0 ? 255 : 15);
  for (const coding of all) {
    for (const size of [1, 100, 16_384, 65_536, 65_537, 300_000]) {
      for (const flush of [false, true]) {
        // The right length, no length, and a wrong one.
        const told = size === 100 ? body.byteLength : size === 16_384 ? 16 : -1;
        const encoder = new Encoder(coding, engines, told);
        const out: Uint8Array[] = [];
        const length = size === 1 ? 500 : body.byteLength;
        for (let at = 0; at < length; at += size) {
          const piece = encoder.write(body.subarray(at, Math.min(at + size, length)), flush);
          if (flush) assert.ok(piece !== null && piece.byteLength > 0);
          if (piece !== null) out.push(piece);
        }
        out.push(encoder.end() ?? new Uint8Array(0));
        assert.ok(decoders[coding](Buffer.concat(out)).equals(body.subarray(0, length)), `${coding} ${size}`);
        encoder.close();
        assert.throws(() => encoder.write(body, false), /closed/);
      }
    }
  }
});

test('reuses an engine with the same result, also after an aborted body', () => {
  const body = Buffer.from(text);
  for (const coding of all) {
    const own = new Engines({ gzip: 9, br: 7, zstd: 9 });
    const whole = (length: number): Buffer => {
      const encoder = new Encoder(coding, own, length);
      const first = encoder.write(body, false) ?? new Uint8Array(0);
      return Buffer.concat([first, encoder.end() ?? new Uint8Array(0)]);
    };
    const fresh = whole(-1);
    new Encoder(coding, own, -1).write(body, true);
    const given = new Encoder(coding, own, -1);
    given.write(body, false);
    given.close();
    for (let round = 0; round < 20; round++) assert.ok(whole(-1).equals(fresh), coding);
    assert.ok(decoders[coding](whole(body.byteLength)).equals(body));
    own.close();
  }
});

test('compresses an empty body to a valid empty stream', () => {
  for (const coding of all) assert.equal(decoders[coding](new Encoder(coding, engines, 0).end() ?? '').byteLength, 0);
});

test('compresses, and sets the headers', async () => {
  for (const coding of all) {
    const { response } = await ask(
      plain({ ETag: '"abc"', 'Accept-Ranges': 'bytes', Vary: 'Origin', 'Content-Digest': 'sha-256=:x:' }, [
        text.slice(0, 100),
        text.slice(100),
      ]),
      { 'Accept-Encoding': coding },
    );
    assert.equal(response.header('content-encoding'), coding);
    assert.equal(response.header('etag'), 'W/"abc"');
    assert.equal(response.header('accept-ranges'), null);
    assert.equal(response.header('content-digest'), null);
    assert.deepEqual(response.headers['vary'], ['Origin, Accept-Encoding']);
    assert.equal(decoders[coding](response.bytes).toString(), text);
    assert.ok(response.bytes.byteLength < text.length / 10);
  }
});

test('sends Vary once, also when it does not compress', async () => {
  for (const accept of ['identity', 'snappy', 'gzip;q=0']) {
    const { response } = await ask(plain(), { 'Accept-Encoding': accept });
    assert.equal(response.header('vary'), 'Accept-Encoding');
    assert.equal(response.header('content-encoding'), null);
    assert.equal(response.body, text);
  }
  assert.equal((await ask(plain(), {})).response.header('vary'), 'Accept-Encoding');
  for (const vary of ['*', 'accept-encoding, Origin', 'Origin,Accept-Encoding']) {
    assert.deepEqual((await ask(plain({ Vary: vary }))).response.headers['vary'], [vary]);
  }
});

test('leaves answers unchanged that must not be compressed', async () => {
  const cases: readonly TestBackend[] = [
    plain({ 'Content-Encoding': 'br' }),
    plain({ 'Content-Encoding': 'identity, gzip' }),
    plain({ 'Cache-Control': 'public, no-transform' }),
    plain({ 'Cache-Control': 'No-Transform' }),
    plain({ 'Content-Range': 'bytes 0-1/2' }),
    { ...plain(), status: 206 },
    plain({ 'Content-Type': 'image/png' }),
    plain({ 'Content-Type': 'text/plain, text/html' }),
    { body: text },
  ];
  for (const backend of cases) {
    const { response } = await ask(backend);
    assert.equal(response.body, text);
    assert.equal(response.header('content-encoding'), backend.headers?.['Content-Encoding'] ?? null);
    assert.equal(response.header('vary'), null);
  }
  const asked = { 'Accept-Encoding': 'gzip', 'Cache-Control': 'max-age=0, no-transform' };
  assert.equal((await ask(plain(), asked)).response.body, text);
  const { response } = await ask({ status: 204, headers: { 'Content-Type': 'text/plain' } });
  assert.equal(response.header('content-encoding'), null);
});

test('matches types by wildcards, suffixes and parameters', async () => {
  const coded = async (type: string, config = {}): Promise<boolean> =>
    (await ask(plain({ 'Content-Type': type }), undefined, config)).response.header('content-encoding') !== null;
  assert.ok(await coded('text/html; charset=utf-8'));
  assert.ok(await coded('Application/Problem+JSON'));
  assert.ok(await coded('image/svg+xml'));
  assert.ok(!(await coded('application/octet-stream')));
  const own = { content_types: ['image/*', 'application/*+zip'] };
  assert.ok(await coded('image/bmp', own));
  assert.ok(await coded('application/x+zip', own));
  assert.ok(!(await coded('text/plain', own)));
});

test('sends the same head for HEAD as for GET', async () => {
  const { response } = await ask(plain({ ETag: '"abc"' }, ''), { 'Accept-Encoding': 'gzip' }, {}, 'HEAD');
  assert.equal(response.header('content-encoding'), 'gzip');
  assert.equal(response.header('etag'), 'W/"abc"');
  assert.equal(response.bytes.byteLength, 0);
});

test('sends a 304 with the ETag of the client', async () => {
  const tagFor = async (known: string): Promise<string | null> =>
    (await ask({ status: 304, headers: { ETag: '"abc"' } }, { 'If-None-Match': known })).response.header('etag');
  assert.equal(await tagFor('W/"abc"'), 'W/"abc"');
  assert.equal(await tagFor('"abc"'), '"abc"');
  const { response } = await ask({ status: 304, headers: { ETag: '"abc"' } });
  assert.equal(response.header('vary'), 'Accept-Encoding');
});

test('refuses an invalid configuration', async () => {
  const { check } = testPlugin(compression);
  assert.equal((await check({ codings: ['deflate'] })).ok, false);
  assert.equal((await check({ codings: [] })).ok, false);
  assert.equal((await check({ content_types: ['text'] })).ok, false);
  assert.equal((await check({ content_types: ['Text/Plain'] })).ok, false);
  assert.equal((await check({ br_level: 11 })).ok, false);
  assert.equal((await check({ content_types: ['text/*', '*/*+json'], br_level: 7 })).ok, true);
});
