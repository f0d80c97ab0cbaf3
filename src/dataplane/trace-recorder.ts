import type { Reply } from '../plugin-sdk/reply.ts';
import type { SpanKind, Trace, TraceSpan } from '../plugin-sdk/trace.ts';
import { monotonic } from '../util/clock.ts';

export type Facts = Record<string, string | number | boolean>;

interface OpenSpan extends TraceSpan {
  end: number;
  readonly facts: Facts;
}

/** A request that is tried again and again must not fill the memory. */
const mostSpans = 256;

/** Records what happens to one request. Spans are known by their number; -1 stands for one that found no place. */
export class TraceRecorder implements Trace {
  readonly spans: OpenSpan[];
  /** What the monotonic clock lacks to the time since the epoch. */
  readonly #offset: number;
  /** Spans of which one at most is open. */
  #plugin = -1;
  #attempt = -1;
  #connect = -1;

  /** `offset`: what the monotonic clock lacks to the time since the epoch. */
  constructor(offset: number, spans: OpenSpan[] = []) {
    this.#offset = offset;
    this.spans = spans;
  }

  /** For a request to a backend beside the others: its spans are among the same. `detached`: nobody waits for it. */
  branch(_detached: boolean): TraceRecorder {
    return new TraceRecorder(this.#offset, this.spans);
  }

  begin(kind: SpanKind, name: string = kind, facts: Facts = {}): number {
    if (this.spans.length >= mostSpans) return -1;
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

  pluginFailed(): void {
    this.end(this.#plugin, { decided: 'failed' });
  }

  /** Nothing of the request is to reach a backend. */
  get dry(): boolean {
    return false;
  }

  /** An attempt is about to be made. True: it is not to be made, and whoever made the recorder sees to the answer. */
  stopsBefore(_facts: Facts): boolean {
    return false;
  }

  attemptBegins(facts: Facts): void {
    this.#attempt = this.begin('attempt', 'attempt', facts);
  }

  /** The attempt goes over a new connection. */
  connectBegins(): void {
    this.#connect = this.begin('connect');
  }

  connectEnds(facts?: Facts): void {
    this.end(this.#connect, facts);
  }

  /** What is known of the attempt by now. */
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
