// A TLS connection for each request, which resumes the newest session of its client. Arguments: port, path, seconds,
// clients at the same time. Prints one line: how many requests there were, failed ones, and those without a resumed session.
import { connect } from 'node:tls';

const [port = '', path = '', ...numbers] = process.argv.slice(2);
const [seconds = 0, clients = 0] = numbers.map(Number);
const message = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`;

/**
 * What wrk offers in the scenario of full handshakes. Node's own list begins with the hybrid of X25519 and ML-KEM, which only
 * servers with OpenSSL 3.5 know: they would do more work than the others.
 */
const keyExchange = 'X25519';

let requests = 0;
let failed = 0;
let full = 0;

/** One request. Returns the session for the next one. */
function requestOnce(session: Buffer | undefined): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    let next: Buffer | undefined;
    let answer = '';
    const socket = connect({
      host: '127.0.0.1',
      port: Number(port),
      rejectUnauthorized: false,
      ecdhCurve: keyExchange,
      ...(session !== undefined && { session }),
    });
    socket.on('session', (received: Buffer) => {
      next = received;
    });
    socket.on('secureConnect', () => {
      if (!socket.isSessionReused()) full++;
      socket.write(message);
    });
    socket.on('data', (piece: Buffer) => {
      if (answer.length < 12) answer += piece.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      requests++;
      if (!answer.startsWith('HTTP/1.1 200')) failed++;
      resolve(next ?? session);
    });
  });
}

const end = performance.now() + seconds * 1000;
await Promise.all(
  Array.from({ length: clients }, async () => {
    let session: Buffer | undefined;
    while (performance.now() < end) session = await requestOnce(session);
  }),
);
process.stdout.write(`${JSON.stringify({ requests, failed, full })}\n`);
