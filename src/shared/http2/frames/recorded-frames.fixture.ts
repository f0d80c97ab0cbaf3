import { preface } from './codes.ts';
import { type FrameHandler, FrameReader } from './frame-reader.ts';

/** Writes down what a reader finds, one line for each frame. */
export class RecordedFrames implements FrameHandler {
  readonly lines: string[] = [];
  readonly #reader: FrameReader;
  #data = '';
  #dataHead = '';

  constructor(expectPreface = true, maxBlockSize = 40_000) {
    this.#reader = new FrameReader(this, { maxBlockSize }, expectPreface);
  }

  /** Reads a copy that is destroyed afterwards, as the shared buffer of a socket is. */
  read(bytes: Uint8Array): void {
    const copy = Uint8Array.from(bytes);
    this.#reader.read(copy, 0, copy.byteLength);
    copy.fill(0xee);
  }

  connectionError(code: number): void {
    this.lines.push(`connection error ${code}`);
  }

  streamError(stream: number, code: number): void {
    this.lines.push(`stream error ${stream} ${code}`);
  }

  dataBegins(stream: number, length: number): void {
    this.#data = '';
    this.#dataHead = `data ${stream} ${length}`;
  }

  dataPiece(bytes: Uint8Array, start: number, end: number): void {
    this.#data += Buffer.from(bytes.subarray(start, end)).toString('latin1');
  }

  dataEnds(padding: number, endStream: boolean): void {
    this.lines.push(`${this.#dataHead} padding ${padding} ${shortened(this.#data)}${endStream ? ' end' : ''}`);
  }

  headers(stream: number, bytes: Uint8Array, start: number, end: number, endStream: boolean, dependency: number): void {
    const block = Buffer.from(bytes.subarray(start, end)).toString('latin1');
    this.lines.push(`headers ${stream} ${shortened(block)} ${dependency}${endStream ? ' end' : ''}`);
  }

  priority(stream: number, dependency: number): void {
    this.lines.push(`priority ${stream} ${dependency}`);
  }

  reset(stream: number, code: number): void {
    this.lines.push(`reset ${stream} ${code}`);
  }

  settings(bytes: Uint8Array, start: number, end: number): void {
    this.lines.push(`settings ${Buffer.from(bytes.subarray(start, end)).toString('hex')}`);
  }

  settingsAcknowledged(): void {
    this.lines.push('settings ack');
  }

  ping(bytes: Uint8Array, start: number, ack: boolean): void {
    this.lines.push(`ping ${Buffer.from(bytes.subarray(start, start + 8)).toString('latin1')}${ack ? ' ack' : ''}`);
  }

  goaway(lastStream: number, code: number): void {
    this.lines.push(`goaway ${lastStream} ${code}`);
  }

  windowUpdate(stream: number, increment: number): void {
    this.lines.push(`window ${stream} ${increment}`);
  }

  unknown(): void {
    this.lines.push('unknown');
  }
}

function shortened(text: string): string {
  return text.length < 30 ? text : `${text.slice(0, 10)}...${text.length}`;
}

/** A frame as bytes, without any check. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array | string = ''): Buffer {
  const body = Buffer.from(payload as string, 'latin1');
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.byteLength, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** The preface and an empty SETTINGS frame. */
export const opening: Buffer = Buffer.concat([preface, frame(4, 0, 0)]);
