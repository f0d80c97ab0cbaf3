import { fieldValues } from '../backend/received.ts';
import type { AnswerHead, TestAnswer } from './contract.ts';

/** Answers of more bytes are a mistake of the test, not something to keep in memory. */
const maxBytes = 256 * 1024 * 1024;

/** Finds the log record of a request by its id. */
export type RecordOf = (requestId: string | null) => Readonly<Record<string, unknown>> | null;

/** `fields`: names and values in turn. */
export function answerHead(status: number, fields: readonly string[]): AnswerHead {
  const values = fieldValues(fields);
  let headers: Headers | null = null;
  return {
    status,
    get headers() {
      headers ??= headersOf(fields);
      return headers;
    },
    header: (name) => values[name.toLowerCase()]?.[0] ?? null,
    headerValues: (name) => values[name.toLowerCase()] ?? [],
  };
}

function headersOf(fields: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < fields.length; at += 2) headers.append(fields[at] as string, fields[at + 1] as string);
  return headers;
}

/** Collects an answer as it arrives. */
export class CollectedAnswer {
  readonly #head: AnswerHead;
  readonly #httpVersion: '1.1' | '2';
  readonly #recordOf: RecordOf;
  #pieces: Buffer[] = [];
  #size = 0;

  constructor(head: AnswerHead, httpVersion: '1.1' | '2', recordOf: RecordOf) {
    this.#head = head;
    this.#httpVersion = httpVersion;
    this.#recordOf = recordOf;
  }

  add(piece: Buffer): void {
    this.#size += piece.byteLength;
    if (this.#size > maxBytes) throw new RangeError(`the answer has more than ${maxBytes} bytes`);
    this.#pieces.push(piece);
  }

  end(complete: boolean, trailers: Readonly<Record<string, string>>): TestAnswer {
    const head = this.#head;
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    return {
      status: head.status,
      get headers() {
        return head.headers;
      },
      header: head.header,
      headerValues: head.headerValues,
      ok: head.status >= 200 && head.status < 300,
      body: bytes.toString(),
      bytes,
      trailers,
      complete,
      httpVersion: this.#httpVersion,
      record: this.#recordOf(head.header('x-kong-request-id')),
      text: () => bytes.toString(),
      json: () => JSON.parse(bytes.toString()) as unknown,
    };
  }
}
