import type { ContextKey, LogContext } from '../../../plugin-sdk/contexts.ts';
import type { StreamLogContext } from '../../../plugin-sdk/stream-contexts.ts';
import { utf8FromLatin1 } from '../../templates/values.ts';

/** The source of a record. */
export type LogSource = LogContext | StreamLogContext;

type Fields = Readonly<Record<string, unknown>>;

const none: Fields = Object.freeze({});

/**
 * A finished request or stream as expressions of log fields see it: headers and arguments are taken from the record, where secrets
 * are masked. Values that streams do not have are absent.
 */
export class LogView {
  readonly #source: LogSource;
  readonly request: LoggedRequest;
  readonly response: LoggedResponse;

  constructor(source: LogSource, record: Fields) {
    this.#source = source;
    this.request = new LoggedRequest(source, fieldsOf(record['request']));
    this.response = new LoggedResponse(source, fieldsOf(record['response']));
  }

  get client(): LogSource['client'] {
    return this.#source.client;
  }

  get route(): LogSource['route'] {
    return this.#source.route;
  }

  get service(): LogSource['service'] {
    return this.#source.service;
  }

  get<T>(key: ContextKey<T>): T | undefined {
    return 'get' in this.#source ? this.#source.get(key) : undefined;
  }
}

/** The request's part of the record, and values that the record does not have. */
export class LoggedRequest {
  readonly #source: LogSource;
  readonly #fields: Fields;

  constructor(source: LogSource, fields: Fields) {
    this.#source = source;
    this.#fields = fields;
  }

  get id(): string {
    return this.#text('id');
  }

  get method(): string {
    return this.#text('method');
  }

  get scheme(): string {
    return 'request' in this.#source ? this.#source.request.scheme : '';
  }

  get host(): string {
    return 'request' in this.#source ? this.#source.request.host : '';
  }

  get port(): number {
    return 'request' in this.#source ? this.#source.request.port : this.#source.localPort;
  }

  get httpVersion(): string {
    return 'request' in this.#source ? this.#source.request.httpVersion : '';
  }

  /** One char for each byte, as the path of a request is. */
  get path(): string {
    return 'request' in this.#source ? this.#source.request.path : '';
  }

  get rawPath(): string {
    return 'request' in this.#source ? this.#source.request.rawPath : '';
  }

  /** Path and query, masked. */
  get uri(): string {
    return this.#text('uri');
  }

  get query(): string {
    const { uri } = this;
    return uri.slice(uri.indexOf('?') + 1 || uri.length);
  }

  uriCaptures(): Readonly<Record<string, string>> {
    return 'request' in this.#source ? this.#source.request.uriCaptures() : {};
  }

  header(name: string): string | null {
    return this.headerValues(name)[0] ?? null;
  }

  headerValues(name: string): readonly string[] {
    return valuesIn(this.#fields['headers'], name.toLowerCase());
  }

  headers(): Fields {
    return fieldsOf(this.#fields['headers']);
  }

  queryArgument(name: string): string | null {
    const value = memberIn(this.#fields['querystring'], name);
    const first = Array.isArray(value) ? value[0] : value;
    if (first === true) return '';
    return typeof first === 'string' ? first : null;
  }

  queryArguments(): Fields {
    return fieldsOf(this.#fields['querystring']);
  }

  #text(name: string): string {
    const value = this.#fields[name];
    return typeof value === 'string' ? value : '';
  }
}

/** The answer's part of the record. */
export class LoggedResponse {
  readonly #source: LogSource;
  readonly #fields: Fields;

  constructor(source: LogSource, fields: Fields) {
    this.#source = source;
    this.#fields = fields;
  }

  /** Of a stream: that of its log record. */
  get status(): number {
    return 'response' in this.#source ? this.#source.response.status : this.#source.measures.status;
  }

  get source(): string {
    return 'response' in this.#source ? this.#source.response.source : this.#source.measures.source;
  }

  headerValues(name: string): readonly string[] {
    return valuesIn(this.#fields['headers'], name.toLowerCase());
  }

  headers(): Fields {
    return fieldsOf(this.#fields['headers']);
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : none;
}

function memberIn(map: unknown, name: string): unknown {
  const fields = fieldsOf(map);
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function valuesIn(map: unknown, name: string): readonly string[] {
  const value = memberIn(map, name);
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly string[]) : [String(value)];
}

/** The first value of a header, read as UTF-8; null when there is none. */
export function firstValue(values: readonly string[]): string | null {
  const [first] = values;
  return first === undefined ? null : utf8FromLatin1(first);
}
