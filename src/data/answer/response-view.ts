import { isUint8Array } from 'node:util/types';
import type { HeaderNames } from '../../plugin-sdk/header-names.ts';
import type { HeaderBlock } from '../../plugin-sdk/reply.ts';
import { headerMap } from '../../shared/http/header-block.ts';
import type { Exchange, PluginResponse } from '../request/exchange.ts';
import { HeaderEdits, isFraming, refuseFraming } from './header-edits.ts';

/** The answer as plugins read and change it. The type of each phase limits what it may use. */
export class ExchangeResponseView implements PluginResponse {
  readonly #exchange: Exchange;
  #body: Uint8Array | null = null;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  get status(): number {
    return this.#exchange.status;
  }

  get source(): 'upstream' | 'gateway' {
    return this.#exchange.responseSource;
  }

  get bodyLength(): number {
    return this.#exchange.responseLength;
  }

  header(name: string): string | null {
    return this.#edits().value(this.#exchange.responseBlock, name.toLowerCase());
  }

  headerValues(name: string): readonly string[] {
    return this.#edits().values(this.#exchange.responseBlock, name.toLowerCase());
  }

  headers(): Readonly<Record<string, readonly string[]>> {
    return headerMap(this.#edits().applyTo(this.#exchange.responseBlock));
  }

  body(): Uint8Array {
    if (this.#body === null)
      throw new Error('the answer was not buffered: the plugin does not declare that it needs it');
    return this.#body;
  }

  setBody(body: Uint8Array): void {
    if (!isUint8Array(body)) throw new TypeError('setBody takes bytes: Buffer.from(text)');
    if (this.#body === null) throw new Error('a body that was not buffered cannot be replaced');
    this.#body = body;
  }

  /** Null: it was not buffered. */
  get heldBody(): Uint8Array | null {
    return this.#body;
  }

  block(): HeaderBlock {
    const x = this.#exchange;
    return x.responseEdits === null ? x.responseBlock : x.responseEdits.applyTo(x.responseBlock);
  }

  /** For the phase loop. */
  holdBody(body: Uint8Array): void {
    this.#body = body;
  }

  setStatus(status: number): void {
    if (!Number.isInteger(status) || status < 200 || status > 599) throw new Error(`${status} is not a final status`);
    this.#exchange.status = status;
    this.#exchange.reason = '';
  }

  setHeader(name: string, value: string): void {
    refuseFraming(name);
    this.#edits().set(name, value);
  }

  setHeaders(names: HeaderNames, values: readonly string[]): void {
    this.#edits().setAll(names, values);
  }

  addHeader(name: string, value: string): void {
    refuseFraming(name);
    this.#edits().add(name, value);
  }

  removeHeader(name: string): void {
    if (isFraming(name)) return;
    this.#edits().remove(name);
  }

  #edits(): HeaderEdits {
    this.#exchange.responseEdits ??= new HeaderEdits();
    return this.#exchange.responseEdits;
  }
}
