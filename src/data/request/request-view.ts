import type { HeaderBlock } from '../../plugin-sdk/reply.ts';
import type { RequestView } from '../../plugin-sdk/request-views.ts';
import { headerMap, headerValue, headerValues } from '../../shared/http/header-block.ts';
import { hostName } from '../../shared/util/net/host-header.ts';
import { keepField } from '../http1/connection-options.ts';
import type { Exchange } from './exchange.ts';
import { queryArguments } from './query-arguments.ts';

/** The request as plugins read it. */
export class ExchangeRequestView implements RequestView {
  readonly #exchange: Exchange;
  #headers: Readonly<Record<string, readonly string[]>> | null = null;
  #arguments: Readonly<Record<string, readonly string[]>> | null = null;
  #captures: Readonly<Record<string, string>> | null = null;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  get id(): string {
    return this.#exchange.id;
  }

  get method(): string {
    return this.#exchange.head.method;
  }

  get scheme(): 'http' | 'https' {
    return this.#exchange.clientScheme;
  }

  get host(): string {
    return hostName(this.#exchange.head.host);
  }

  get port(): number {
    const { peer, head } = this.#exchange;
    return peer.trusted && /^[1-9]\d{0,4}$/.test(head.forwardedPort) ? Number(head.forwardedPort) : peer.localPort;
  }

  get path(): string {
    return this.#exchange.path;
  }

  get rawPath(): string {
    return this.#exchange.head.rawPath;
  }

  get query(): string {
    return this.#exchange.head.query;
  }

  get httpVersion(): '1.0' | '1.1' | '2' {
    return this.#exchange.head.httpVersion;
  }

  get bodyLength(): number {
    return this.#exchange.head.bodyLength;
  }

  get upgrade(): '' | 'websocket' {
    return this.#exchange.head.upgrade;
  }

  header(name: string): string | null {
    const lower = name.toLowerCase();
    return this.#sees(lower) ? headerValue(this.#exchange.head.block, lower) : null;
  }

  headerValues(name: string): readonly string[] {
    const lower = name.toLowerCase();
    return this.#sees(lower) ? headerValues(this.#exchange.head.block, lower) : [];
  }

  #sees(lower: string): boolean {
    const { head, tries } = this.#exchange;
    return head.hopByHop === '' || keepField(head, lower, tries > 0);
  }

  headers(): Readonly<Record<string, readonly string[]>> {
    this.#headers ??= headerMap(this.#exchange.head.block);
    return this.#headers;
  }

  block(): HeaderBlock {
    return this.#exchange.head.block;
  }

  queryArgument(name: string): string | null {
    return this.queryArguments()[name]?.[0] ?? null;
  }

  queryArguments(): Readonly<Record<string, readonly string[]>> {
    this.#arguments ??= withEmptyFlags(queryArguments(this.#exchange.head.query));
    return this.#arguments;
  }

  uriCaptures(): Readonly<Record<string, string>> {
    this.#captures ??= namedCaptures(this.#exchange.captures);
    return this.#captures;
  }
}

function withEmptyFlags(
  found: Readonly<Record<string, readonly (string | true)[]>>,
): Readonly<Record<string, readonly string[]>> {
  const result: Record<string, readonly string[]> = Object.create(null);
  for (const [name, values] of Object.entries(found)) {
    result[name] = values.map((value) => (value === true ? '' : value));
  }
  return result;
}

function namedCaptures(captures: RegExpExecArray | null): Readonly<Record<string, string>> {
  const result: Record<string, string> = Object.create(null);
  if (captures === null) return result;
  for (let index = 1; index < captures.length; index++) {
    const value: string | undefined = captures[index];
    if (value !== undefined) result[index] = value;
  }
  for (const [name, value] of Object.entries<string | undefined>(captures.groups ?? {})) {
    if (value !== undefined) result[name] = value;
  }
  return result;
}
