import { Flag, FrameType, frameHeadSize, maxFrameSize, maxStreamId, maxWindow, preface, ResetCode } from './codes.ts';
import { sizeProblem, uint32 } from './frame-rules.ts';
import { HeaderBlock } from './header-block.ts';

/** Receives the frames of a connection. Ranges of bytes are valid only during the call. Frames have passed all checks that need no state. */
export interface FrameHandler {
  /** The peer has broken the protocol: nothing more is read. `code`: `ResetCode`. */
  connectionError(code: number): void;
  /** A frame that breaks one stream only. */
  streamError(stream: number, code: number): void;
  /** A DATA frame begins. `length`: what it takes from the windows, padding included. */
  dataBegins(stream: number, length: number): void;
  /** A part of the DATA frame that has begun. */
  dataPiece(bytes: Uint8Array, start: number, end: number): void;
  /** The DATA frame is complete. `padding`: its bytes of padding, with their length. */
  dataEnds(padding: number, endStream: boolean): void;
  /** A whole header block. `dependency`: the stream that it depends on; -1: none. */
  headers(stream: number, bytes: Uint8Array, start: number, end: number, endStream: boolean, dependency: number): void;
  priority(stream: number, dependency: number): void;
  reset(stream: number, code: number): void;
  /** Pairs of identifier and value, six bytes each. */
  settings(bytes: Uint8Array, start: number, end: number): void;
  settingsAcknowledged(): void;
  /** Eight bytes from `start` on. */
  ping(bytes: Uint8Array, start: number, ack: boolean): void;
  goaway(lastStream: number, code: number): void;
  /** `stream`: 0 for the connection. */
  windowUpdate(stream: number, increment: number): void;
  /** A frame of a type that is not known: it is passed over. */
  unknown(): void;
}

/** Limits of header blocks that come in several frames. */
export interface BlockLimits {
  /** Bytes of a header block as it is sent. */
  readonly maxBlockSize: number;
}

const none: Uint8Array = new Uint8Array(0);

/**
 * Finds the frames in what a socket reads. DATA is passed on as it arrives; any other frame when it is complete. What is
 * incomplete at the end of a read is copied.
 */
export class FrameReader {
  readonly #handler: FrameHandler;
  readonly #maxBlockSize: number;
  /** Bytes of the preface still to come; 0 on connections that the gateway opens. */
  #prefaceLeft: number;
  /** SETTINGS has to be the first frame. */
  #first = true;
  #stopped = false;
  /** The beginning of a frame, as far as it has arrived; `#needed` bytes are enough for the next step. */
  #carry: Uint8Array = none;
  #carried = 0;
  #needed = 0;
  /** Bytes of the payload of a DATA frame still to come, and then of its padding. */
  #dataLeft = 0;
  #paddingLeft = 0;
  #padding = 0;
  #padded = false;
  #inData = false;
  #endStream = false;
  /** Bytes of a frame of an unknown type still to come. */
  #skip = 0;
  /** The header block that waits for CONTINUATION; null: none. */
  #block: HeaderBlock | null = null;

  constructor(handler: FrameHandler, { maxBlockSize }: BlockLimits, expectPreface: boolean) {
    this.#handler = handler;
    this.#maxBlockSize = maxBlockSize;
    this.#prefaceLeft = expectPreface ? preface.byteLength : 0;
  }

  /** Nothing more is read. */
  stop(): void {
    this.#stopped = true;
    this.#carry = none;
    this.#block = null;
  }

  /** A header block has begun and is not complete. */
  get inHeaders(): boolean {
    return this.#block !== null;
  }

  read(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    if (this.#prefaceLeft > 0) at = this.#readPreface(bytes, at, end);
    while (at < end && !this.#stopped) {
      if (this.#inData) at = this.#readData(bytes, at, end);
      else if (this.#skip > 0) {
        const size = Math.min(this.#skip, end - at);
        this.#skip -= size;
        at += size;
      } else if (this.#carried > 0) at = this.#complete(bytes, at, end);
      else {
        const next = end - at < frameHeadSize ? -frameHeadSize : this.#frame(bytes, at, end);
        if (next >= 0) at = next;
        else {
          this.#keep(bytes, at, end, -next);
          at = end;
        }
      }
    }
  }

  #readPreface(bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    while (at < end && this.#prefaceLeft > 0) {
      if (bytes[at] !== preface[preface.byteLength - this.#prefaceLeft]) {
        this.#fail(ResetCode.protocolError);
        return end;
      }
      at++;
      this.#prefaceLeft--;
    }
    return at;
  }

  /** Copies an incomplete frame. With `needed` bytes of it the next step is possible. */
  #keep(bytes: Uint8Array, start: number, end: number, needed: number): void {
    this.#carry = new Uint8Array(needed);
    this.#carry.set(bytes.subarray(start, end));
    this.#carried = end - start;
    this.#needed = needed;
  }

  #complete(bytes: Uint8Array, start: number, end: number): number {
    const size = Math.min(this.#needed - this.#carried, end - start);
    this.#carry.set(bytes.subarray(start, start + size), this.#carried);
    this.#carried += size;
    if (this.#carried < this.#needed) return end;
    const carry = this.#carry;
    const carried = this.#carried;
    this.#carry = none;
    this.#carried = 0;
    const next = this.#frame(carry, 0, carried);
    if (next < 0) this.#keep(carry, 0, carried, -next);
    return start + size;
  }

  /** Reads one frame. Returns where the next one begins, or the negative number of bytes that it needs. */
  #frame(bytes: Uint8Array, start: number, end: number): number {
    const length =
      ((bytes[start] as number) << 16) | ((bytes[start + 1] as number) << 8) | (bytes[start + 2] as number);
    const type = bytes[start + 3] as number;
    const flags = bytes[start + 4] as number;
    const stream = uint32(bytes, start + 5) & maxStreamId;
    const payload = start + frameHeadSize;
    if (this.#first) {
      if (type !== FrameType.settings || (flags & Flag.ack) !== 0) return this.#fail(ResetCode.protocolError, end);
      this.#first = false;
    }
    if (length > maxFrameSize) return this.#fail(ResetCode.frameSizeError, end);
    const block = this.#block;
    if (block !== null && (type !== FrameType.continuation || stream !== block.stream))
      return this.#fail(ResetCode.protocolError, end);
    if (type === FrameType.data) return this.#beginData(stream, length, flags, payload);
    if (type > FrameType.continuation) {
      this.#skip = length;
      this.#handler.unknown();
      return payload;
    }
    if (end - payload < length) {
      // Before its bytes are kept: a frame that will be refused costs no memory.
      const wrong = sizeProblem(type, flags, length, stream);
      return wrong === 0 ? -(frameHeadSize + length) : this.#fail(wrong, end);
    }
    this.#whole(type, flags, stream, bytes, payload, payload + length);
    return payload + length;
  }

  #whole(type: number, flags: number, stream: number, bytes: Uint8Array, start: number, end: number): void {
    const wrong = sizeProblem(type, flags, end - start, stream);
    if (wrong !== 0) {
      this.#fail(wrong);
      return;
    }
    const handler = this.#handler;
    switch (type) {
      case FrameType.headers:
        this.#headers(flags, stream, bytes, start, end);
        break;
      case FrameType.continuation:
        this.#continuation(flags, bytes, start, end);
        break;
      case FrameType.windowUpdate:
        handler.windowUpdate(stream, uint32(bytes, start) & maxWindow);
        break;
      case FrameType.settings:
        if ((flags & Flag.ack) !== 0) handler.settingsAcknowledged();
        else handler.settings(bytes, start, end);
        break;
      case FrameType.ping:
        handler.ping(bytes, start, (flags & Flag.ack) !== 0);
        break;
      case FrameType.rstStream:
        handler.reset(stream, uint32(bytes, start));
        break;
      case FrameType.goaway:
        handler.goaway(uint32(bytes, start) & maxStreamId, uint32(bytes, start + 4));
        break;
      case FrameType.priority:
        if (end - start !== 5) handler.streamError(stream, ResetCode.frameSizeError);
        else handler.priority(stream, uint32(bytes, start) & maxStreamId);
        break;
      default:
        // PUSH_PROMISE: no client may send it, and the gateway allows no backend to.
        this.#fail(ResetCode.protocolError);
    }
  }

  #headers(flags: number, stream: number, bytes: Uint8Array, payload: number, payloadEnd: number): void {
    let start = payload;
    let end = payloadEnd;
    if ((flags & Flag.padded) !== 0) {
      end -= bytes[start] as number;
      start++;
    }
    let dependency = -1;
    if ((flags & Flag.priority) !== 0) {
      dependency = uint32(bytes, start) & maxStreamId;
      start += 5;
    }
    if (end < start) {
      this.#fail(ResetCode.protocolError);
      return;
    }
    const endStream = (flags & Flag.endStream) !== 0;
    if ((flags & Flag.endHeaders) !== 0) {
      this.#handler.headers(stream, bytes, start, end, endStream, dependency);
      return;
    }
    this.#block = new HeaderBlock(stream, endStream, dependency, this.#maxBlockSize);
    this.#block.append(bytes, start, end);
  }

  #continuation(flags: number, bytes: Uint8Array, start: number, end: number): void {
    const block = this.#block;
    if (block === null) this.#fail(ResetCode.protocolError);
    else if (!block.continue(bytes, start, end)) this.#fail(ResetCode.enhanceYourCalm);
    else if ((flags & Flag.endHeaders) !== 0) {
      this.#block = null;
      this.#handler.headers(block.stream, block.bytes, 0, block.size, block.endStream, block.dependency);
    }
  }

  #beginData(stream: number, length: number, flags: number, payload: number): number {
    this.#padded = (flags & Flag.padded) !== 0;
    if (stream === 0) return this.#fail(ResetCode.protocolError, payload);
    if (this.#padded && length === 0) return this.#fail(ResetCode.frameSizeError, payload);
    this.#inData = true;
    this.#endStream = (flags & Flag.endStream) !== 0;
    this.#dataLeft = length;
    this.#paddingLeft = 0;
    this.#padding = 0;
    this.#handler.dataBegins(stream, length);
    if (length === 0 && !this.#stopped) this.#endData();
    return payload;
  }

  #readData(bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    if (this.#padded) {
      this.#padded = false;
      this.#paddingLeft = bytes[at] as number;
      this.#padding = this.#paddingLeft + 1;
      this.#dataLeft -= this.#padding;
      at++;
      if (this.#dataLeft < 0) return this.#fail(ResetCode.protocolError, end);
    }
    if (this.#dataLeft > 0 && at < end) {
      const size = Math.min(this.#dataLeft, end - at);
      this.#dataLeft -= size;
      at += size;
      this.#handler.dataPiece(bytes, at - size, at);
    }
    if (this.#dataLeft === 0) {
      const size = Math.min(this.#paddingLeft, end - at);
      this.#paddingLeft -= size;
      at += size;
      if (this.#paddingLeft === 0 && !this.#stopped) this.#endData();
    }
    return at;
  }

  #endData(): void {
    this.#inData = false;
    this.#handler.dataEnds(this.#padding, this.#endStream);
  }

  #fail(code: number, next = 0): number {
    this.stop();
    this.#handler.connectionError(code);
    return next;
  }
}
