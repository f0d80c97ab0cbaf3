import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { ByteReader, type EndKind } from './byte-reader.ts';
import { type RawResponse, readResponse } from './http-message.ts';

/** A client that writes exactly the given bytes. */
export class RawClient {
  readonly socket: Socket;
  readonly reader: ByteReader;

  constructor(socket: Socket) {
    this.socket = socket;
    this.reader = new ByteReader(socket);
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Writes, and waits until the kernel has the bytes. */
  async send(bytes: string | Uint8Array): Promise<void> {
    const buffer = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    await new Promise<void>((resolve) => this.socket.write(buffer, () => resolve()));
  }

  readResponse(method = 'GET', wait?: number): Promise<RawResponse> {
    return readResponse(this.reader, method, wait);
  }

  readToEnd(wait?: number): Promise<{ readonly text: string; readonly kind: EndKind }> {
    return this.reader.readToEnd(wait);
  }

  /** Half-closes: the client has nothing more to send. */
  end(): void {
    this.socket.end();
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }

  close(): void {
    this.socket.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

export async function openClient(port: number, options: { readonly localAddress?: string } = {}): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true, ...options });
  socket.on('error', () => {});
  const client = new RawClient(socket);
  await once(socket, 'connect');
  return client;
}

/** Writes `bytes` on a new connection and reads all until the other side closes. */
export async function exchangeToEnd(
  port: number,
  bytes: string | Uint8Array,
  wait?: number,
): Promise<{ readonly text: string; readonly kind: EndKind }> {
  using client = await openClient(port);
  client.write(bytes);
  return await client.readToEnd(wait);
}

/** Writes `bytes` on a new connection and reads one answer. */
export async function exchangeOne(port: number, bytes: string | Uint8Array, method = 'GET'): Promise<RawResponse> {
  using client = await openClient(port);
  client.write(bytes);
  return await client.readResponse(method);
}
