import { headerMap, headerValue, headerValues } from '../../http1/header-block.ts';
import type { BackendAnswer } from '../../plugin-sdk/calls.ts';

/** What a backend answered to a call. Nothing of its head is taken apart until somebody asks. */
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
