import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { BenchError } from '../machine/tools.ts';

export interface EchoBackend {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** Answers the handshake of a WebSocket, and sends back every byte after it; any other request gets an empty 200. */
export async function startEchoBackend(): Promise<EchoBackend> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let head = '';
    const greet = (data: Buffer): void => {
      head += data.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      if (!/^upgrade:/im.test(head)) {
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
        return;
      }
      const key = /sec-websocket-key: (\S+)/i.exec(head)?.[1] ?? '';
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      );
      socket.off('data', greet);
      socket.on('data', (frame: Buffer) => void socket.write(frame));
    };
    socket.on('data', greet);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** 100 bytes of text in a masked frame (RFC 6455 5.2); with a key of zeros the text stays as it is. */
const frame = Buffer.concat([Buffer.from([0x81, 0x80 | 100, 0, 0, 0, 0]), Buffer.alloc(100, 'e')]);

/** Sends a frame on each of the connections and the next one when it has come back. Returns how many came back. */
export async function echoLoad(port: number, path: string, connections: number, seconds: number): Promise<number> {
  let echoed = 0;
  let running = true;
  const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(port, path)));
  const ended = sockets.map(
    (socket) =>
      new Promise<void>((resolve, reject) => {
        let missing = 0;
        const send = (): void => {
          missing = frame.byteLength;
          socket.write(frame);
        };
        socket.on('data', (data: Buffer) => {
          missing -= data.byteLength;
          if (missing > 0) return;
          echoed++;
          if (running) send();
          else socket.destroy();
        });
        socket.on('error', reject);
        socket.on('close', () => (running ? reject(new BenchError('a WebSocket was closed')) : resolve()));
        send();
      }),
  );
  const timer = setTimeout(() => {
    running = false;
  }, seconds * 1000);
  await Promise.all(ended).finally(() => clearTimeout(timer));
  return echoed;
}

async function openSocket(port: number, path: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  let head = '';
  while (!head.includes('\r\n\r\n')) head += ((await once(socket, 'data')) as [Buffer])[0].toString('latin1');
  if (!head.startsWith('HTTP/1.1 101')) throw new BenchError(`no WebSocket: ${head.split('\r\n')[0]}`);
  return socket;
}
