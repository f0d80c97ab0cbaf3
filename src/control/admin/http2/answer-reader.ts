import { headerValue, headerValues } from '../../../shared/http/header-block.ts';

/** Receives what Node's server answers to one request. */
export interface AnswerHandler {
  /** `lines`: a header block. */
  informational(status: number, lines: string): void;
  /** `length`: of the body, -1 when not declared. */
  head(status: number, lines: string, length: number): void;
  /** A piece of the body; the range is valid during the call. */
  body(bytes: Buffer, start: number, end: number): void;
}

const maxHead = 131_072;
const statusLine = /^HTTP\/1\.1 ([1-5]\d\d)(?: [^\r\n]*)?\r\n/;

/**
 * Reads an answer as Node's server writes it: a head, and a body without framing of its own, which ends with the connection. What the server was
 * not asked to write is an error.
 */
export class AnswerReader {
  readonly #handler: AnswerHandler;
  /** The request was HEAD. */
  readonly #isHead: boolean;
  #head: Buffer | null = Buffer.alloc(0);
  /** Bytes of the body still to come; -1: not declared. */
  #left = -1;

  constructor(handler: AnswerHandler, isHead: boolean) {
    this.#handler = handler;
    this.#isHead = isHead;
  }

  /** Throws when the answer is not valid. */
  read(bytes: Buffer): void {
    let rest = bytes;
    while (this.#head !== null) {
      const head: Buffer = this.#head.length === 0 ? rest : Buffer.concat([this.#head, rest]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) {
        if (head.length > maxHead) throw new Error('the head of the answer is too long');
        this.#head = Buffer.from(head);
        return;
      }
      this.#head = Buffer.alloc(0);
      rest = head.subarray(end + 4);
      this.#readHead(head.toString('latin1', 0, end + 2));
    }
    this.#readBody(rest);
  }

  /** True when nothing is missing. */
  get complete(): boolean {
    return this.#head === null && this.#left <= 0;
  }

  #readHead(text: string): void {
    const found = statusLine.exec(text);
    const status = Number(found?.[1] ?? 0);
    const lines = text.slice(found?.[0].length ?? 0);
    if (found === null || status === 101 || headerValue(lines, 'transfer-encoding') !== null) {
      throw new Error(`the answer cannot be sent over HTTP/2: ${text.slice(0, 100)}`);
    }
    if (status < 200) {
      this.#handler.informational(status, lines);
      return;
    }
    const [declared, ...others] = headerValues(lines, 'content-length');
    if (others.length > 0 || (declared !== undefined && !/^\d+$/.test(declared))) {
      throw new Error('the length of the answer is not valid');
    }
    const length = declared === undefined ? -1 : Number(declared);
    this.#left = this.#isHead || status === 204 || status === 304 ? 0 : length;
    this.#head = null;
    this.#handler.head(status, lines, length);
  }

  #readBody(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#left >= 0) {
      if (bytes.length > this.#left) throw new Error('the answer is longer than declared');
      this.#left -= bytes.length;
    }
    this.#handler.body(bytes, 0, bytes.length);
  }
}
