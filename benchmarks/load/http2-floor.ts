// node:http2 that answers by itself: what no gateway built on it can be cheaper than.
import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';

const [cert = '', key = ''] = process.argv.slice(2);
const body = JSON.stringify({ id: 42, name: 'item', description: 'x'.repeat(191) });
const fields = [
  [':status', '200', 'server', 'floor', 'date', new Date().toUTCString(), 'content-type', 'application/json'],
  ['via', '1.1 floor', 'x-kong-upstream-latency', '1', 'x-kong-proxy-latency', '0'],
  ['x-kong-request-id', '0123456789abcdef0123456789abcdef', 'content-length', String(body.length)],
].flat();

const server = createSecureServer({
  cert: readFileSync(cert),
  key: readFileSync(key),
  strictSingleValueFields: false,
} as object);
server.on('stream', (stream) => {
  stream.respond(fields.slice());
  stream.end(body);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
