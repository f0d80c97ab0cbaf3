import { constants } from 'node:zlib';
import type { Coding } from './accept-encoding.ts';
import type { Engines, SyncEngine } from './engines.ts';

/** Flush modes of the engine: keep its buffer, send it, send it and end. */
const flushes = {
  gzip: [constants.Z_NO_FLUSH, constants.Z_SYNC_FLUSH, constants.Z_FINISH],
  br: [constants.BROTLI_OPERATION_PROCESS, constants.BROTLI_OPERATION_FLUSH, constants.BROTLI_OPERATION_FINISH],
  zstd: [constants.ZSTD_e_continue, constants.ZSTD_e_flush, constants.ZSTD_e_end],
} as const;
const keep = 0;
const send = 1;
const end = 2;

/** Bytes that are compressed in one call. */
const stepBytes = 65_536;
const nothing = new Uint8Array(0);
/** Used only within a call. */
const room = Buffer.allocUnsafeSlow(65_536);

/** Compresses one body, chunk by chunk, in the calling thread. Call `end` or `close`. */
export class Encoder {
  readonly #coding: Coding;
  readonly #engines: Engines;
  /** Null once it has ended. */
  #engine: SyncEngine | null;

  /** `length`: bytes of the body, -1 when it is not known. */
  constructor(coding: Coding, engines: Engines, length: number) {
    this.#coding = coding;
    this.#engines = engines;
    this.#engine = engines.take(coding, length);
  }

  /** The available output; with `flush`, all of it. */
  write(piece: Uint8Array, flush: boolean): Uint8Array | null {
    const out: Buffer[] = [];
    for (let at = 0; at < piece.byteLength; at += stepBytes) {
      const last = at + stepBytes >= piece.byteLength;
      this.#run(piece.subarray(at, at + stepBytes), flush && last ? send : keep, out);
    }
    return joined(out);
  }

  /** The rest of the output; no more input is accepted. */
  end(): Uint8Array | null {
    const out: Buffer[] = [];
    const engine = this.#run(nothing, end, out);
    this.#engine = null;
    this.#engines.giveBack(this.#coding, engine);
    return joined(out);
  }

  /** Aborts a body that has not ended. */
  close(): void {
    this.#engine?._handle.close();
    this.#engine = null;
  }

  #run(piece: Uint8Array, mode: 0 | 1 | 2, out: Buffer[]): SyncEngine {
    const engine = this.#engine;
    if (engine === null) throw new Error('the encoder is closed');
    const { _handle: handle, _writeState: state } = engine;
    const flush = flushes[this.#coding][mode];
    let at = 0;
    for (;;) {
      const left = piece.byteLength - at;
      handle.writeSync(flush, piece, at, left, room, 0, room.byteLength);
      if (engine.destroyed) throw new Error('the body cannot be compressed');
      const [space = 0, rest = 0] = state;
      at += left - rest;
      if (space < room.byteLength) out.push(Buffer.copyBytesFrom(room, 0, room.byteLength - space));
      if (space > 0) return engine;
    }
  }
}

function joined(pieces: readonly Buffer[]): Uint8Array | null {
  return pieces.length < 2 ? (pieces[0] ?? null) : Buffer.concat(pieces);
}
