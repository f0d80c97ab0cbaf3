import zlib from 'node:zlib';
import type { Coding } from './accept-encoding.ts';

/** Effort by coding. */
export interface Levels {
  readonly gzip: number;
  readonly br: number;
  readonly zstd: number;
}

/**
 * The parts of a zlib stream of Node's that compress at once, in the calling thread. Node documents only the way through its thread
 * pool, which costs several turns of the event loop for each piece; the synchronous functions that it documents end the stream.
 */
interface SyncEngine {
  readonly _handle: {
    writeSync(
      flush: number,
      from: Uint8Array,
      at: number,
      left: number,
      to: Uint8Array,
      start: number,
      room: number,
    ): void;
    close(): void;
  };
  /** What is left after a write: room for output, and input. */
  readonly _writeState: Uint32Array;
  readonly destroyed: boolean;
}

const { constants } = zlib;

/** What to do with what the engine holds back: keep, send, send and end. */
const flushes = {
  gzip: [constants.Z_NO_FLUSH, constants.Z_SYNC_FLUSH, constants.Z_FINISH],
  br: [constants.BROTLI_OPERATION_PROCESS, constants.BROTLI_OPERATION_FLUSH, constants.BROTLI_OPERATION_FINISH],
  zstd: [constants.ZSTD_e_continue, constants.ZSTD_e_flush, constants.ZSTD_e_end],
} as const;
const keep = 0;
const send = 1;
const end = 2;

/** 512 KiB: as much as clients need to hold of an answer, and far less memory than the default for each transfer. */
const brotliWindow = 19;
/** Bytes that are compressed in one go. */
const stepBytes = 65_536;
const nothing = new Uint8Array(0);
/** Used within a call only. */
const room = Buffer.allocUnsafeSlow(65_536);

/** Compresses one body, piece by piece, in the calling thread. To be closed. */
export class Encoder {
  readonly #engine: SyncEngine;
  readonly #flushes: readonly [number, number, number];
  #closed = false;

  constructor(coding: Coding, levels: Levels) {
    this.#engine = engineOf(coding, levels);
    this.#flushes = flushes[coding];
  }

  /** What is ready of it; with `flush` all of it is. */
  write(piece: Uint8Array, flush: boolean): Uint8Array | null {
    const out: Buffer[] = [];
    for (let at = 0; at < piece.byteLength; at += stepBytes) {
      const last = at + stepBytes >= piece.byteLength;
      this.#run(piece.subarray(at, at + stepBytes), flush && last ? send : keep, out);
    }
    return joined(out);
  }

  /** The rest; the encoder is closed. */
  end(): Uint8Array | null {
    const out: Buffer[] = [];
    this.#run(nothing, end, out);
    this.close();
    return joined(out);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#engine._handle.close();
  }

  #run(piece: Uint8Array, mode: 0 | 1 | 2, out: Buffer[]): void {
    if (this.#closed) throw new Error('the encoder is closed');
    const { _handle: handle, _writeState: state } = this.#engine;
    let at = 0;
    for (;;) {
      const left = piece.byteLength - at;
      handle.writeSync(this.#flushes[mode], piece, at, left, room, 0, room.byteLength);
      if (this.#engine.destroyed) throw new Error('the body cannot be compressed');
      const [space = 0, rest = 0] = state;
      at += left - rest;
      if (space < room.byteLength) out.push(Buffer.copyBytesFrom(room, 0, room.byteLength - space));
      if (space > 0) return;
    }
  }
}

function joined(pieces: readonly Buffer[]): Uint8Array | null {
  return pieces.length < 2 ? (pieces[0] ?? null) : Buffer.concat(pieces);
}

function engineOf(coding: Coding, levels: Levels): SyncEngine {
  return streamOf(coding, levels) as unknown as SyncEngine;
}

function streamOf(coding: Coding, levels: Levels): object {
  if (coding === 'gzip') return zlib.createGzip({ level: levels.gzip });
  if (coding === 'zstd') {
    return zlib.createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: levels.zstd } });
  }
  return zlib.createBrotliCompress({
    params: { [constants.BROTLI_PARAM_QUALITY]: levels.br, [constants.BROTLI_PARAM_LGWIN]: brotliWindow },
  });
}
