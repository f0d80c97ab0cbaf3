import type { SpanKind, Trace, TraceSpan } from '../plugin-sdk/trace.ts';
import { monotonic } from '../util/clock.ts';

type Facts = Record<string, string | number | boolean>;

interface OpenSpan extends TraceSpan {
  end: number;
  readonly facts: Facts;
}

/** A request that is tried again and again must not fill the memory. */
const mostSpans = 256;

/** Records what happens to one request. Spans are known by their number; -1 stands for one that found no place. */
export class TraceRecorder implements Trace {
  readonly spans: OpenSpan[] = [];
  /** What the monotonic clock lacks to the time since the epoch. */
  readonly #offset: number;

  /** The start of the request, on both clocks. */
  constructor(startedAt: number, startedMono: number) {
    this.#offset = startedAt - startedMono;
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

  #now(): number {
    return this.#offset + monotonic();
  }
}
