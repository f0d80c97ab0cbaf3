import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createConnection, isIPv6, type Socket as TcpSocket } from 'node:net';
import { isAnswerTo } from './message.ts';

/** The address of a name server. */
export interface ServerAddress {
  readonly ip: string;
  readonly port: number;
}

/** A query to one server. */
export interface Exchange<T> {
  readonly server: ServerAddress;
  /** The message; its first two bytes are the id. */
  readonly question: Buffer;
  /** Milliseconds for all of it. */
  readonly timeout: number;
  /**
   * Reads a message that carries the id. Null: it does not answer the question, and the answer is still waited for.
   * What it throws ends the exchange.
   */
  readonly read: (message: Buffer) => T | null;
  /** A message was received that does not answer the query. */
  readonly foreign: () => void;
  readonly signal: AbortSignal;
}

/** No answer arrived in time. Any other error means that the server answered, or that nothing listens there. */
export class DnsTimeout extends Error {}

/**
 * Sends a query over UDP. Each query has a socket, and thereby a source port, of its own (RFC 5452 9.2). The socket is connected,
 * so that the system drops messages of other addresses and reports when nothing listens.
 */
export function askOverUdp<T>(exchange: Exchange<T>): Promise<T> {
  const { server, question, timeout, signal } = exchange;
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(server.ip) ? 'udp6' : 'udp4');
    const finish = closing(() => closeUdp(socket), { reject, timeout, signal });
    socket.on('error', (error) => finish(() => reject(error)));
    socket.on('message', (message) => {
      const result = readMessage(exchange, message);
      if (result !== null) finish(() => settle(result, resolve, reject));
    });
    // The types have no error argument, but Node passes one.
    const connected = (failure?: Error): void => {
      if (failure != null) finish(() => reject(failure));
      if (finish.done()) return;
      socket.send(question, (error) => {
        if (error !== null) finish(() => reject(error));
      });
    };
    socket.connect(server.port, server.ip, connected);
  });
}

/** Sends a query over TCP, where answers may be up to 65,535 bytes long (RFC 7766). */
export function askOverTcp<T>(exchange: Exchange<T>): Promise<T> {
  const { server, question, timeout, signal } = exchange;
  return new Promise((resolve, reject) => {
    const socket: TcpSocket = createConnection({ host: server.ip, port: server.port });
    const finish = closing(() => socket.destroy(), { reject, timeout, signal });
    const chunks: Buffer[] = [];
    let received = 0;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(question.length);
    socket.on('error', (error) => finish(() => reject(error)));
    socket.on('close', () => finish(() => reject(new Error('connection closed before the answer'))));
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      received += chunk.length;
      if (received < 2 || received < 2 + lengthOf(chunks)) return;
      const all = Buffer.concat(chunks);
      const result = readMessage(exchange, all.subarray(2, 2 + all.readUInt16BE(0)));
      // No one else can write to this connection, so an answer to another query is an error of the server.
      finish(() => settle(result ?? { error: new Error('answer to another question') }, resolve, reject));
    });
    socket.write(Buffer.concat([length, question]));
  });
}

function lengthOf(chunks: Buffer[]): number {
  if ((chunks[0] as Buffer).length < 2) chunks.splice(0, chunks.length, Buffer.concat(chunks));
  return (chunks[0] as Buffer).readUInt16BE(0);
}

type Result<T> = { readonly value: T } | { readonly error: unknown };

function readMessage<T>(exchange: Exchange<T>, message: Buffer): Result<T> | null {
  try {
    if (isAnswerTo(message, exchange.question.readUInt16BE(0))) {
      const value = exchange.read(message);
      if (value !== null) return { value };
    }
  } catch (error) {
    return { error };
  }
  exchange.foreign();
  return null;
}

function settle<T>(result: Result<T>, resolve: (value: T) => void, reject: (error: unknown) => void): void {
  if ('value' in result) resolve(result.value);
  else reject(result.error);
}

interface Finish {
  /** Closes everything, then runs the action; only the first call counts. */
  (action: () => void): void;
  done(): boolean;
}

function closing(close: () => void, end: { reject(error: Error): void; timeout: number; signal: AbortSignal }): Finish {
  let over = false;
  const finish = (action: () => void): void => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    end.signal.removeEventListener('abort', aborted);
    close();
    action();
  };
  const aborted = (): void => finish(() => end.reject(new Error('closed')));
  const timer = setTimeout(() => finish(() => end.reject(new DnsTimeout('timeout'))), Math.max(1, end.timeout));
  end.signal.addEventListener('abort', aborted);
  return Object.assign(finish, { done: () => over });
}

function closeUdp(socket: UdpSocket): void {
  try {
    socket.close();
  } catch {
    // An error of the socket has closed it already.
  }
}
