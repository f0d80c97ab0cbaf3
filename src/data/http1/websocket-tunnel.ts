import { randomBytes } from 'node:crypto';
import type { RequestBodySink } from './body-sink.ts';

const closeOpcode = 0x8;
/** Going away (RFC 6455 7.4.1). */
const goingAway = Buffer.from([0x03, 0xe9]);

/** Finds where the frames of one direction of a WebSocket end (RFC 6455 5.2). It reads headers only. */
export class FrameReader {
  /** Bytes of the current header that were read; 0: none. */
  #header = 0;
  /** Bytes of it that follow the first two: those of the length, and those of the mask behind them. */
  #lengthBytes = 0;
  #maskBytes = 0;
  #length = 0;
  #payloadLeft = 0;
  #opcode = 0;
  /** A close frame has been read: nothing follows it. */
  closed = false;

  /** Every frame that has begun is complete. */
  get betweenFrames(): boolean {
    return this.#header === 0 && this.#payloadLeft === 0;
  }

  read(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; ) {
      if (this.#payloadLeft > 0) {
        const size = Math.min(this.#payloadLeft, end - at);
        this.#payloadLeft -= size;
        at += size;
      } else this.#readHeader(bytes[at++]!);
    }
  }

  #readHeader(byte: number): void {
    this.#header++;
    if (this.#header === 1) {
      this.#opcode = byte & 0x0f;
      return;
    }
    if (this.#header === 2) {
      const length = byte & 0x7f;
      this.#lengthBytes = length === 127 ? 8 : length === 126 ? 2 : 0;
      this.#length = this.#lengthBytes === 0 ? length : 0;
      this.#maskBytes = byte >= 0x80 ? 4 : 0;
    } else if (this.#lengthBytes > 0) {
      this.#lengthBytes--;
      this.#length = this.#length * 256 + byte;
    } else this.#maskBytes--;
    if (this.#lengthBytes > 0 || this.#maskBytes > 0) return;
    this.#header = 0;
    this.#payloadLeft = this.#length;
    if (this.#opcode === closeOpcode) this.closed = true;
  }
}

/** A WebSocket that is passed on byte by byte, and that the gateway can end between two frames. */
export class WebSocketTunnel implements RequestBodySink {
  readonly #backend: RequestBodySink;
  readonly #fromClient = new FrameReader();
  readonly #fromBackend = new FrameReader();

  constructor(backend: RequestBodySink) {
    this.#backend = backend;
  }

  /** From the client to the backend. */
  bodyData(bytes: Uint8Array, start: number, end: number): void {
    this.#fromClient.read(bytes, start, end);
    this.#backend.bodyData(bytes, start, end);
  }

  bodyEnd(trailers: string): void {
    this.#backend.bodyEnd(trailers);
  }

  /** Call it with all bytes that the client receives from the backend. */
  received(bytes: Uint8Array, start: number, end: number): void {
    this.#fromBackend.read(bytes, start, end);
  }

  /**
   * Sends the backend a close frame in the name of the client, if it can, and returns the one for the client: empty when it
   * has received one. Null: a frame for the client is not complete.
   */
  close(): Uint8Array | null {
    if (!this.#fromBackend.betweenFrames) return null;
    if (this.#fromClient.betweenFrames && !this.#fromClient.closed) {
      const frame = maskedClose();
      this.#backend.bodyData(frame, 0, frame.byteLength);
    }
    return this.#fromBackend.closed ? new Uint8Array(0) : plainClose;
  }
}

const plainClose = Buffer.from([0x88, 0x02, ...goingAway]);

/** Clients mask their frames (RFC 6455 5.3). */
function maskedClose(): Uint8Array {
  const mask = randomBytes(4);
  return Buffer.from([0x88, 0x82, ...mask, ...goingAway.map((byte, at) => byte ^ mask[at]!)]);
}
