import type { TLSSocket } from 'node:tls';
import { headBlock } from '../../../shared/http2/connection/connection-sender.ts';
import { Http2Stream, type StreamConnection } from '../../../shared/http2/connection/stream.ts';
import { ResetCode } from '../../../shared/http2/frames/codes.ts';
import { clientErrorBody } from '../http/client-error.ts';
import { type AnswerHandler, AnswerReader } from './answer-reader.ts';
import { type BridgeEnd, BridgeSocket } from './bridge-socket.ts';
import type { RequestHead } from './request-head.ts';

/** The connection of a stream. */
export interface StreamOwner extends StreamConnection {
  readonly tls: TLSSocket;
  /** Node's server for HTTP/1.1 receives a connection. */
  serve(socket: BridgeSocket): void;
  /** See `BridgeEnd.kept`. */
  readonly sweeping: boolean;
  /** Code of the server threw. */
  failed(error: unknown): void;
}

/** One stream of a client's connection: a request, which Node's server answers as one of HTTP/1.1 over a connection in memory. */
export class ServerStream extends Http2Stream implements BridgeEnd, AnswerHandler {
  declare readonly connection: StreamOwner;
  #bridge: BridgeSocket | null = null;
  #answer: AnswerReader | null = null;
  #chunked = false;
  /** Called when the client has room for more of the answer. */
  #taken: (() => void) | null = null;
  /** The client has to take something before more of the answer can follow. */
  #full = false;

  constructor(connection: StreamOwner) {
    super(connection, true);
  }

  /** Passes the request on to the server. */
  begin({ text, isHead, bodyLength }: RequestHead): void {
    this.#chunked = bodyLength < 0;
    if (bodyLength >= 0) this.expectLength(bodyLength);
    this.#answer = new AnswerReader(this, isHead);
    const bridge = new BridgeSocket(this, this.connection.tls);
    this.#bridge = bridge;
    this.connection.serve(bridge);
    bridge.push(text, 'latin1');
  }

  /** Answers without the server. */
  refuse(status: number): void {
    const body = Buffer.from(clientErrorBody(status));
    this.#sendHead(status, 'content-type: application/json; charset=utf-8\r\n', body.byteLength);
    this.connection.sendData(this, body, 0, body.byteLength);
    this.connection.sendEnd(this, '');
  }

  // The request's body

  wanted(): void {
    this.startReading();
  }

  protected onHead(): void {}

  protected onData(bytes: Uint8Array, start: number, end: number): void {
    const bridge = this.#bridge;
    if (bridge === null || end === start) return;
    // A copy: the bytes are valid only during this call.
    let piece: Buffer = Buffer.from(bytes.subarray(start, end));
    if (this.#chunked) piece = Buffer.concat([Buffer.from(`${piece.byteLength.toString(16)}\r\n`), piece, lineEnd]);
    if (!bridge.push(piece)) this.stopReading();
  }

  /** Trailers are not passed on: no route reads them. */
  protected onEnd(): void {
    if (this.#chunked) this.#bridge?.push(lastChunk, 'latin1');
  }

  // The answer

  answer(bytes: Buffer, taken: () => void): void {
    if (this.closed) return;
    this.#full = false;
    this.#answer?.read(bytes);
    if (this.#full) this.#taken = taken;
    else taken();
  }

  informational(status: number, lines: string): void {
    this.#sendHead(status, lines, -1);
  }

  head(status: number, lines: string, length: number): void {
    this.#sendHead(status, lines, length);
  }

  body(bytes: Buffer, start: number, end: number): void {
    if (!this.connection.sendData(this, bytes, start, end)) this.#full = true;
  }

  answered(): void {
    if (this.#answer?.complete !== true) throw new Error('the answer is not complete');
    this.connection.sendEnd(this, '');
  }

  get kept(): boolean {
    return this.connection.sweeping;
  }

  /** The answer is complete, or the stream ends without one. */
  dropped(): void {
    this.#bridge = null;
    this.#taken = null;
    if (!this.localEnded && !this.endPending) this.reset(ResetCode.internalError);
  }

  #sendHead(status: number, lines: string, length: number): void {
    if (this.closed) return;
    headBlock.length = 0;
    this.connection.encoder.response(headBlock, status, lines, status === 204 ? -1 : length);
    this.connection.sendHeaders(this, false);
  }

  onDrained(): void {
    const taken = this.#taken;
    this.#taken = null;
    taken?.();
  }

  /** Asks the client to stop sending a body that is no longer read (RFC 9113 8.1). */
  onSent(): void {
    if (!this.remoteEnded) this.reset(ResetCode.noError);
  }

  onReset(): void {
    this.#bridge?.destroy();
  }

  failed(error: unknown): void {
    this.connection.failed(error);
  }

  unexpected(error: unknown): void {
    this.connection.failed(error);
    this.reset(ResetCode.internalError);
    this.#bridge?.destroy();
  }
}

const lineEnd = Buffer.from('\r\n');
const lastChunk = '0\r\n\r\n';
