import { keepTrailers } from '../../shared/http/trailers.ts';
import type { BodySink } from './body-sink.ts';
import { chunkExtensions, fieldLines } from './grammar.ts';

/** Returned by `feed` when the body continues after these bytes. */
export const needMore = -1;
/** Returned by `feed` when the framing is broken; the connection must be closed. */
export const broken = -2;

const maxExtensionBytes = 1024;
/** Maximum bytes of extensions in one body: they cost work and carry no data. */
const maxExtensionsBytes = 16_384;
const maxTrailerBytes = 8192;
/** Including leading zeros, as in a padded 64-bit number. Values beyond safe integers are refused. */
const maxSizeDigits = 16;

/**
 * Decodes a chunked body (RFC 9112 7.1), byte by byte where it is framing and in ranges where it is data. Sizes are
 * plain hexadecimal digits; extensions are skipped within a bound; trailers are collected within a bound.
 */
export class ChunkDecoder {
  #state: 'size' | 'extension' | 'size-lf' | 'data' | 'data-cr' | 'data-lf' | 'trailer' = 'size';
  #size = 0;
  #digits = 0;
  #extension = '';
  #extensions = 0;
  #trailer = '';
  /** Trailer lines, validated, each ended by CRLF; set when the body is complete. */
  trailers = '';

  reset(): void {
    this.#state = 'size';
    this.#size = 0;
    this.#digits = 0;
    this.#extension = '';
    this.#extensions = 0;
    this.#trailer = '';
    this.trailers = '';
  }

  /** Decodes from `start`; returns the offset after the body's last byte, or `needMore`, or `broken`. */
  feed(bytes: Uint8Array, start: number, end: number, sink: BodySink): number {
    let at = start;
    while (at < end) {
      switch (this.#state) {
        case 'size': {
          const byte = bytes[at] as number;
          const digit = hexDigit(byte);
          if (digit >= 0) {
            if (++this.#digits > maxSizeDigits) return broken;
            this.#size = this.#size * 16 + digit;
            if (this.#size > Number.MAX_SAFE_INTEGER) return broken;
          } else if (this.#digits === 0) return broken;
          else if (byte === 13) this.#state = 'size-lf';
          else if (byte === 59 || byte === 32 || byte === 9) {
            this.#extension = String.fromCharCode(byte);
            this.#state = 'extension';
          } else return broken;
          at++;
          break;
        }
        case 'extension': {
          const byte = bytes[at] as number;
          if (byte === 13) {
            this.#extensions += this.#extension.length;
            if (this.#extensions > maxExtensionsBytes || !chunkExtensions.test(this.#extension)) return broken;
            this.#extension = '';
            this.#state = 'size-lf';
          } else {
            if (this.#extension.length === maxExtensionBytes) return broken;
            this.#extension += String.fromCharCode(byte);
          }
          at++;
          break;
        }
        case 'size-lf':
          if (bytes[at] !== 10) return broken;
          at++;
          this.#state = this.#size === 0 ? 'trailer' : 'data';
          this.#digits = 0;
          break;
        case 'data': {
          const stop = Math.min(end, at + this.#size);
          sink.bodyData(bytes, at, stop);
          this.#size -= stop - at;
          at = stop;
          if (this.#size === 0) this.#state = 'data-cr';
          break;
        }
        case 'data-cr':
          if (bytes[at] !== 13) return broken;
          at++;
          this.#state = 'data-lf';
          break;
        case 'data-lf':
          if (bytes[at] !== 10) return broken;
          at++;
          this.#state = 'size';
          break;
        case 'trailer': {
          const byte = bytes[at] as number;
          at++;
          this.#trailer += String.fromCharCode(byte);
          if (this.#trailer.length > maxTrailerBytes) return broken;
          if (byte === 10) {
            if (this.#trailer === '\r\n' || this.#trailer.endsWith('\r\n\r\n')) return this.#finish(at);
            if (!this.#trailer.endsWith('\r\n')) return broken;
          }
          break;
        }
      }
    }
    return needMore;
  }

  #finish(at: number): number {
    fieldLines.lastIndex = 0;
    if (!fieldLines.test(this.#trailer) || fieldLines.lastIndex !== this.#trailer.length) return broken;
    this.trailers = keepTrailers(this.#trailer.slice(0, -2));
    return at;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
