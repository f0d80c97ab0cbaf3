import type { Reply } from '../../plugin-sdk/reply.ts';
import type { SpanKind, Trace, TraceSpan } from '../../plugin-sdk/trace.ts';
import { monotonic } from '../../shared/util/time/clock.ts';

export type Facts = Record<string, string | number | boolean>;

interface OpenSpan extends TraceSpan {
  end: number;
  readonly facts: Facts;
}

/** A request with many retries must not exhaust the memory. */
const maxSpans = 256;

/** Records the spans of one request. A span is identified by its number; -1: not recorded, because the trace is full. */
export class TraceRecorder implements Trace {
  readonly spans: OpenSpan[];
  /** Time since the epoch minus the monotonic clock, in milliseconds. */
  readonly #offset: number;
  /** Kinds with at most one open span. */
  #plugin = -1;
  #attempt = -1;
  #connect = -1;

  /** Plugins see the spans, so they treat the request as one that is traced. */
  get shown(): boolean {
    return true;
  }

  /** `offset`: time since the epoch minus the monotonic clock, in milliseconds. */
  constructor(offset: number, spans: OpenSpan[] = []) {
    this.#offset = offset;
    this.spans = spans;
  }

  /** For a parallel request to a backend, whose spans join the same trace. `detached`: the client does not wait for it. */
  branch(_detached: boolean): TraceRecorder {
    return new TraceRecorder(this.#offset, this.spans);
  }

  begin(kind: SpanKind, name: string = kind, facts: Facts = {}): number {
    if (this.spans.length >= maxSpans) return -1;
    return this.spans.push({ kind, name, start: this.#now(), end: 0, facts }) - 1;
  }

  end(span: number, facts?: Facts): void {
    const open = this.spans[span];
    if (open === undefined || open.end > 0) return;
    open.end = this.#now();
    if (facts !== undefined) Object.assign(open.facts, facts);
  }

  pluginBegins(name: string, instance: string, phase: string): void {
    this.#plugin = this.begin('plugin', name, { phase, instance });
  }

  pluginEnds(result: Reply | undefined): void {
    this.end(this.#plugin, result === undefined ? undefined : { decided: `status ${result.status}` });
  }

  /** `_reply`: with which the request is answered; undefined: it continues. */
  pluginFailed(_reply?: Reply): void {
    this.end(this.#plugin, { decided: 'failed' });
  }

  /** `_reply`: with which the request is refused; undefined: it continues without the plugin. */
  pluginOverBudget(decided: string, _reply?: Reply): void {
    this.end(this.#plugin, { decided });
  }

  /** The request must not reach a backend. */
  get dry(): boolean {
    return false;
  }

  /** Called before an attempt. True: no attempt is made, and the creator of the recorder answers. */
  stopsBefore(_facts: Facts): boolean {
    return false;
  }

  attemptBegins(facts: Facts): void {
    this.#attempt = this.begin('attempt', 'attempt', facts);
  }

  /** The attempt opens a connection. */
  connectBegins(): void {
    this.#connect = this.begin('connect');
  }

  connectEnds(facts?: Facts): void {
    this.end(this.#connect, facts);
  }

  /** Adds facts to the open attempt. */
  attemptIs(facts: Facts): void {
    const open = this.spans[this.#attempt];
    if (open !== undefined && open.end === 0) Object.assign(open.facts, facts);
  }

  attemptEnds(): void {
    this.end(this.#connect);
    this.end(this.#attempt);
  }

  #now(): number {
    return this.#offset + monotonic();
  }
}
