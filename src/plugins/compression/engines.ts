import zlib from 'node:zlib';
import type { Coding } from './accept-encoding.ts';

/** Compression level by coding. */
export interface Levels {
  readonly gzip: number;
  readonly br: number;
  readonly zstd: number;
}

/**
 * The parts of Node's zlib streams that compress synchronously, in the calling thread. Node documents only the use through its
 * thread pool, which costs several turns of the event loop per chunk; its documented synchronous functions end the stream.
 */
export interface SyncEngine {
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
    reset(): void;
    close(): void;
  };
  /** After a write: free output space, and remaining input. */
  readonly _writeState: Uint32Array;
  readonly destroyed: boolean;
}

const { constants } = zlib;
const maxIdle = 8;
/** 512 KiB: clients need this much memory for a response. The default takes far more memory per transfer. */
const largestWindow = 19;
const smallestWindow = 10;
/** Bytes. */
const smallBody = 32_768;

/**
 * Engines of one instance. Creating one costs more than compressing a small body, so gzip engines are reused; the others lose
 * their settings on a reset.
 */
export class Engines {
  readonly #levels: Levels;
  readonly #idle: SyncEngine[] = [];

  constructor(levels: Levels) {
    this.#levels = levels;
  }

  /** `length`: expected bytes of the body; -1 when unknown. It may be wrong. */
  take(coding: Coding, length: number): SyncEngine {
    const known = coding === 'gzip' ? this.#idle.pop() : undefined;
    return known ?? (this.#made(coding, length) as unknown as SyncEngine);
  }

  /** The engine has finished a body. */
  giveBack(coding: Coding, engine: SyncEngine): void {
    if (coding !== 'gzip' || engine.destroyed || this.#idle.length >= maxIdle) {
      engine._handle.close();
      return;
    }
    engine._handle.reset();
    this.#idle.push(engine);
  }

  close(): void {
    for (const engine of this.#idle.splice(0)) engine._handle.close();
  }

  #made(coding: Coding, length: number): object {
    const { gzip, br, zstd } = this.#levels;
    if (coding === 'gzip') return zlib.createGzip({ level: gzip });
    if (coding === 'zstd') return zlib.createZstdCompress({ params: zstdParams(zstd, length) });
    const window = length < 0 ? largestWindow : windowFor(length);
    return zlib.createBrotliCompress({
      params: { [constants.BROTLI_PARAM_QUALITY]: br, [constants.BROTLI_PARAM_LGWIN]: window },
    });
  }
}

/** A small body needs small tables; without its length the level says how large they are. */
function zstdParams(level: number, length: number): Record<number, number> {
  const params = { [constants.ZSTD_c_compressionLevel]: level };
  if (length < 0 || length > smallBody) return params;
  const window = windowFor(length);
  return {
    ...params,
    [constants.ZSTD_c_windowLog]: window,
    [constants.ZSTD_c_hashLog]: window + 1,
    [constants.ZSTD_c_chainLog]: window,
  };
}

/** As a power of two. A window larger than the body has no benefit. */
function windowFor(length: number): number {
  return Math.min(largestWindow, Math.max(smallestWindow, Math.ceil(Math.log2(length + 16))));
}
