// node:tls by itself: answers each connection once and closes it. Arguments: certificate and key. Prints its port.
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';

const [cert = '', key = ''] = process.argv.slice(2);
const answer = `HTTP/1.1 200 OK\r\nContent-Length: 234\r\nConnection: close\r\n\r\n${'x'.repeat(234)}`;
const server = createServer(
  { cert: readFileSync(cert), key: readFileSync(key), ALPNProtocols: ['http/1.1'] },
  (socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(answer));
  },
);
server.on('tlsClientError', () => {});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
