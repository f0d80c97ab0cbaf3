// What HPACK costs for each head: node benchmarks/micro/hpack.ts
import { BlockBuffer } from '../../src/shared/http2/hpack/block-buffer.ts';
import { HeaderList } from '../../src/shared/http2/hpack/header-list.ts';
import { HpackDecoder } from '../../src/shared/http2/hpack/hpack-decoder.ts';
import { HpackEncoder } from '../../src/shared/http2/hpack/hpack-encoder.ts';

const heads = 100_000;
const rounds = 7;

function measure(name: string, one: (at: number) => void): void {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = process.cpuUsage();
    for (let at = 0; at < heads; at++) one(at);
    const { user, system } = process.cpuUsage(start);
    times.push(((user + system) * 1e3) / heads);
  }
  process.stdout.write(`${name.padEnd(56)} ${Math.min(...times).toFixed(0)} ns CPU/head\n`);
}

const requestHead = [
  'GET /r/17?page=2 HTTP/1.1',
  'Host: 127.0.0.1:9001',
  'Connection: keep-alive',
  'X-Forwarded-For: 127.0.0.1',
  'X-Real-IP: 127.0.0.1',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Port: 8443',
  'X-Forwarded-Host: example.com',
  'X-Forwarded-Path: /r/17',
  'Via: 2 sluicegate/1.0.0',
  'X-Kong-Request-Id: 0123456789abcdef0123456789abcdef',
  'user-agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
  'accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-language: en-US,en;q=0.5',
  'accept-encoding: gzip, deflate, br, zstd',
  'cookie: session=abcdef0123456789; theme=dark',
  '\r\n',
].join('\r\n');

function responseBlock(id: string): string {
  return (
    'Content-Type: application/json; charset=utf-8\r\nDate: Mon, 21 Oct 2013 20:13:21 GMT\r\nServer: nginx\r\n' +
    'Via: 1.1 sluicegate/1.0.0\r\nX-Kong-Upstream-Latency: 1\r\nX-Kong-Proxy-Latency: 0\r\n' +
    `X-Kong-Request-Id: ${id}\r\n`
  );
}

/** The same block, but as a flat string of its own: as a gateway builds it. */
const blocks = Array.from({ length: 64 }, (_, at) => {
  const block = responseBlock(`${at}`.padStart(32, '0123456789abcdef'));
  return Buffer.from(block, 'latin1').toString('latin1');
});

const buffer = new BlockBuffer();
const list = new HeaderList();

/** A block as a client with a dynamic table sends it, and one of a client without. */
function encoded(encoder: HpackEncoder, encode: (encoder: HpackEncoder) => void): Buffer {
  buffer.length = 0;
  encode(encoder);
  return Buffer.from(buffer.bytes.subarray(0, buffer.length));
}

const encoder = new HpackEncoder();
measure('encode a response', (at) => {
  buffer.length = 0;
  encoder.response(buffer, 200, blocks[at & 63]!, 112);
});
measure('encode a request', () => {
  buffer.length = 0;
  encoder.request(buffer, requestHead, 'https');
});

const ofClient = new HpackEncoder();
const first = encoded(ofClient, (one) => one.request(buffer, requestHead, 'https'));
const later = encoded(ofClient, (one) => one.request(buffer, requestHead, 'https'));
const decoder = new HpackDecoder();
measure('decode a first request: Huffman codes, all indexed', () => {
  list.begin(65_536, 100);
  decoder.decode(first, 0, first.length, list);
});
measure('decode a later request: mostly indexes', () => {
  list.begin(65_536, 100);
  decoder.decode(later, 0, later.length, list);
});
measure('the same, and its lines as text', () => {
  list.begin(65_536, 100);
  decoder.decode(later, 0, later.length, list);
  let text = '';
  for (const field of list.fields) if (!field.pseudo) text += field.line;
  if (text.indexOf('\n\n') >= 0) process.exitCode = 1;
});
const bomb = Buffer.concat([first, Buffer.alloc(16_000, 0xbe)]);
measure('decode a block of 16,000 indexed repeats, per field', (at) => {
  if (at % 16_000 !== 0) return;
  list.begin(65_536, 100);
  decoder.decode(bomb, 0, bomb.length, list);
});
process.stdout.write(`blocks: ${first.length} and ${later.length} bytes of a head of ${requestHead.length}\n`);
