import type { BackendAnswer } from '../../plugin-sdk/calls.ts';
import { headerMap, headerValue, headerValues } from '../../shared/http/header-block.ts';

/** The response of a backend to a call. Its head is parsed lazily. */
export class CallAnswer implements BackendAnswer {
  readonly status: number;
  readonly body: Uint8Array;
  readonly #block: string;

  constructor(status: number, block: string, body: Uint8Array) {
    this.status = status;
    this.body = body;
    this.#block = block;
  }

  header(name: string): string | null {
    return headerValue(this.#block, name.toLowerCase());
  }

  headerValues(name: string): readonly string[] {
    return headerValues(this.#block, name.toLowerCase());
  }

  headers(): Readonly<Record<string, readonly string[]>> {
    return headerMap(this.#block);
  }

  block(): string {
    return this.#block;
  }
}
