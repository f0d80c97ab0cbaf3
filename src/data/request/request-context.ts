import { type BackendAnswer, type BackendCall, CallFailed } from '../../plugin-sdk/calls.ts';
import type { ContextKey, NoneAuthenticated } from '../../plugin-sdk/contexts.ts';
import type {
  ClientView,
  ConnectionView,
  ConsumerView,
  CredentialView,
  IdentityDetails,
  RequestMeasures,
  RequestView,
  RouteView,
  ServiceView,
} from '../../plugin-sdk/request-views.ts';
import type { Trace } from '../../plugin-sdk/trace.ts';
import type { UpstreamRequestEdit } from '../../plugin-sdk/upstream-request-edit.ts';
import { BodyMemoryExhausted } from '../../shared/errors.ts';
import { recordLine } from '../../shared/logs/record-line.ts';
import { contentCodings, decodeContent } from '../../shared/util/bytes/content-coding.ts';
import { ExchangeMeasures, logRecord } from '../answer/log-record.ts';
import { ExchangeResponseView } from '../answer/response-view.ts';
import { identityLines } from '../attempt/identity-lines.ts';
import { ExchangeUpstreamEdit, requestEdits } from '../attempt/upstream-request-edit.ts';
import { recordText } from '../record-text/record-text.ts';
import { collectBody } from './collect-body.ts';
import { drawOf, type Exchange, endOf, type PluginContext } from './exchange.ts';
import { ExchangeRequestView } from './request-view.ts';

/** Characters of a version's name that are kept. */
const maxVersionLength = 64;

/** One request as all plugins see it, in every phase. Each part is made at its first use. */
export class RequestContext implements PluginContext {
  readonly #exchange: Exchange;
  #request: ExchangeRequestView | null = null;
  #response: ExchangeResponseView | null = null;
  #upstream: ExchangeUpstreamEdit | null = null;
  #firstKey: symbol | null = null;
  #firstValue: unknown = undefined;
  #values: Map<symbol, unknown> | null = null;
  /** Name, value, name, value: made into an object only for the log record. */
  #logFields: unknown[] | null = null;
  #record: Record<string, unknown> | null = null;
  #recordText: string | null = null;
  /** When the record was first asked for, monotonic clock; 0: not yet. */
  #recordedMono = 0;
  #measures: ExchangeMeasures | null = null;
  #body: Promise<Uint8Array> | null = null;
  #decoded: Promise<Uint8Array> | null = null;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  get request(): RequestView {
    this.#request ??= new ExchangeRequestView(this.#exchange);
    return this.#request;
  }

  get response(): ExchangeResponseView {
    this.#response ??= new ExchangeResponseView(this.#exchange);
    return this.#response;
  }

  get upstream(): UpstreamRequestEdit {
    this.#upstream ??= new ExchangeUpstreamEdit(this.#exchange);
    return this.#upstream;
  }

  get client(): ClientView {
    return this;
  }

  get connection(): ConnectionView {
    return this.#exchange.peer;
  }

  get route(): RouteView | null {
    return this.#exchange.route;
  }

  get service(): ServiceView | null {
    return this.#exchange.service;
  }

  get ip(): string {
    return this.#exchange.clientIp;
  }

  get peerIp(): string {
    return this.#exchange.peer.peerIp;
  }

  get port(): number {
    return this.#exchange.peer.peerPort;
  }

  get consumer(): ConsumerView | null {
    return this.#exchange.consumer;
  }

  get credential(): CredentialView | null {
    return this.#exchange.credential;
  }

  get details(): IdentityDetails | null {
    return this.#exchange.details;
  }

  get followed(): boolean {
    const { plan, accessAt } = this.#exchange;
    return accessAt + 1 < plan.access.length;
  }

  get<T>(key: ContextKey<T>): T | undefined {
    if (this.#firstKey === key.symbol) return this.#firstValue as T;
    return this.#values?.get(key.symbol) as T | undefined;
  }

  set<T>(key: ContextKey<T>, value: T): void {
    // Most requests keep at most one value.
    if (this.#firstKey === null || this.#firstKey === key.symbol) {
      this.#firstKey = key.symbol;
      this.#firstValue = value;
      return;
    }
    this.#values ??= new Map();
    this.#values.set(key.symbol, value);
  }

  log(field: string, value: unknown): void {
    if (this.#record !== null) this.#record[field] = value;
    this.#recordText = null;
    const fields = this.#logFields;
    if (fields === null) {
      this.#logFields = [field, value];
      return;
    }
    for (let at = 0; at < fields.length; at += 2) {
      if (fields[at] !== field) continue;
      fields[at + 1] = value;
      return;
    }
    fields.push(field, value);
  }

  authenticate(
    consumer: ConsumerView | null,
    credential: CredentialView | null,
    details: Partial<IdentityDetails> | null = null,
  ): void {
    this.#exchange.consumer = consumer;
    this.#exchange.credential = credential;
    this.#exchange.details = details === null ? null : { groups: null, scopes: null, claims: null, ...details };
    this.#exchange.identity = identityLines(consumer, credential);
  }

  setApiVersion(name: string): void {
    this.#exchange.apiVersion = name.slice(0, maxVersionLength);
  }

  authenticateWithAny(names: ReadonlySet<string>, otherwise: NoneAuthenticated): void {
    this.#exchange.alternatives = { names, otherwise, refusals: [], asked: 0, settled: false };
  }

  limitBody(bytes: number): boolean {
    const x = this.#exchange;
    const length = x.requestBody?.byteLength ?? x.head.bodyLength;
    if (length >= 0) return length <= bytes;
    x.bodyLimited = true;
    x.downstream.limitBody(x, bytes);
    return true;
  }

  body(): Promise<Uint8Array> {
    const x = this.#exchange;
    if (x.requestBody !== null) return Promise.resolve(x.requestBody);
    if (x.head.bodyLength === 0) return Promise.resolve(new Uint8Array(0));
    const limit = x.plan.requestBodyLimit;
    if (limit === 0) return Promise.reject(new Error('the plugin does not declare that it needs the request body'));
    this.#body ??= collectBody(x, limit);
    return this.#body;
  }

  decodedBody(): Promise<Uint8Array> {
    this.#decoded ??= this.#decode();
    return this.#decoded;
  }

  async #decode(): Promise<Uint8Array> {
    const x = this.#exchange;
    const body = await this.body();
    const fields = requestEdits(x).values(x.head.forwardBlock, 'content-encoding');
    const codings = contentCodings(fields);
    if (codings.length > 0 && body.byteLength > 0) {
      const decoded = await decodeContent(body, codings, x.plan.requestBodyLimit, x.clientIp);
      if (x.peer.bodies?.reserve(x, decoded.byteLength) === false) throw new BodyMemoryExhausted();
      x.requestBody = decoded;
    }
    if (fields.length > 0) requestEdits(x).remove('content-encoding');
    return x.requestBody ?? body;
  }

  call(call: BackendCall): Promise<BackendAnswer> {
    const x = this.#exchange;
    if (x.peer.calls !== null) return x.peer.calls.call(x, call);
    return Promise.reject(new CallFailed('no-service', 503, 'there is no way to backends'));
  }

  get trace(): Trace | null {
    const { trace } = this.#exchange;
    return trace?.shown === true ? trace : null;
  }

  get dry(): boolean {
    return this.#exchange.trace?.dry === true;
  }

  get draw(): number {
    return drawOf(this.#exchange);
  }

  get measures(): RequestMeasures {
    this.#measures ??= new ExchangeMeasures(this.#exchange);
    return this.#measures;
  }

  record(): Readonly<Record<string, unknown>> {
    this.#record ??= { ...logRecord(this.#exchange, this.#recordTime()), ...fieldsOf(this.#logFields) };
    return this.#record;
  }

  recordText(): string {
    this.#recordText ??= recordText(this.#exchange, this.#recordTime(), this.#logFields) ?? recordLine(this.record());
    return this.#recordText;
  }

  /** The same for the record and its text. */
  #recordTime(): number {
    if (this.#recordedMono === 0) this.#recordedMono = endOf(this.#exchange);
    return this.#recordedMono;
  }
}

function fieldsOf(pairs: readonly unknown[] | null): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = Object.create(null);
  if (pairs !== null) for (let at = 0; at < pairs.length; at += 2) fields[String(pairs[at])] = pairs[at + 1];
  return fields;
}
