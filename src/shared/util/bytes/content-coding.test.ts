import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { ContentCodingError, contentCodings, decodeContent } from './content-coding.ts';

const maxBytes = 4 * 2 ** 20;
/** Not compressible, so that it is too large to be decoded at once. */
const noise = randomBytes(100_000);
const text = Buffer.from('a text that is compressed well. '.repeat(2000));

async function faultOf(work: () => Buffer | Promise<Buffer>): Promise<string> {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof ContentCodingError);
    return error.fault;
  }
  return 'none';
}

test('small and large bodies of every coding are decoded, the last coding first', async () => {
  const encoders = {
    gzip: gzipSync,
    'x-gzip': gzipSync,
    deflate: deflateSync,
    br: (body: Buffer) => brotliCompressSync(body),
    zstd: (body: Buffer) => zstdCompressSync(body),
  };
  for (const [coding, encode] of Object.entries(encoders)) {
    for (const body of [text, noise]) {
      const decoded = await decodeContent(encode(body), [coding], maxBytes, '192.0.2.1');
      assert.ok(decoded.equals(body), coding);
    }
  }
  const raw = await decodeContent(deflateRawSync(text), ['deflate'], maxBytes, '192.0.2.1');
  assert.ok(raw.equals(text));
  const twice = await decodeContent(gzipSync(brotliCompressSync(noise)), ['br', 'gzip'], maxBytes, '192.0.2.1');
  assert.ok(twice.equals(noise));
});

test('a body that cannot be decoded is rejected with its fault', async () => {
  const large = gzipSync(noise);
  const broken = Buffer.from(large);
  broken.fill(0, 20_000, 20_100);
  assert.equal(await faultOf(() => decodeContent(large, ['lzma'], maxBytes, '')), 'unknown');
  assert.equal(await faultOf(() => decodeContent(large, ['gzip', 'gzip', 'gzip', 'gzip'], maxBytes, '')), 'unknown');
  assert.equal(await faultOf(() => decodeContent(broken, ['gzip'], maxBytes, '')), 'broken');
  assert.equal(await faultOf(() => decodeContent(large.subarray(0, 30_000), ['gzip'], maxBytes, '')), 'broken');
  assert.equal(await faultOf(() => decodeContent(large, ['gzip'], 1000, '')), 'too-large');
  assert.equal(await faultOf(() => decodeContent(gzipSync(text), ['gzip'], 1000, '')), 'too-large');
  assert.deepEqual(contentCodings(['gzip, identity', ' BR ']), ['gzip', 'br']);
});

test('a client with many large bodies does not delay the body of another', async () => {
  const body = gzipSync(noise);
  const finished: string[] = [];
  const decode = async (client: string): Promise<void> => {
    await decodeContent(body, ['gzip'], maxBytes, client);
    finished.push(client);
  };
  // Addresses of one IPv6 network are one client.
  const flood = Array.from({ length: 60 }, (_, at) => decode(`2001:db8::${at.toString(16)}`));
  await Promise.all([...flood, decode('192.0.2.1')]);
  assert.ok(finished.indexOf('192.0.2.1') < 12, `it was number ${finished.indexOf('192.0.2.1') + 1} of 61`);
});

test('when too many wait, the client with most of them is rejected, not another', async () => {
  const body = gzipSync(noise);
  const flood = Array.from({ length: 1100 }, () => faultOf(() => decodeContent(body, ['gzip'], maxBytes, '192.0.2.1')));
  assert.equal(await faultOf(() => decodeContent(body, ['gzip'], maxBytes, '192.0.2.2')), 'none');
  const faults = await Promise.all(flood);
  assert.equal(faults.filter((fault) => fault === 'overloaded').length, 1100 - 1024 - 4 + 1);
});
