import type { StreamEvent } from '../api/event-stream.ts';
import type { OverviewState, Second } from './overview-data.ts';

/** Seconds that the plots show, and that the gateway has of the past. */
export const windowLength = 300;
/** Seconds of the totals. */
const minute = 60;
/** Milliseconds between two renderings. */
const renderInterval = 1_000;

type Column = (number | null)[];

/** Each value is that of the second of the same place in `time`; null: not known. */
export interface Columns {
  readonly time: number[];
  /** A second. */
  readonly requests: Column;
  readonly clientErrors: Column;
  readonly serverErrors: Column;
  /** Milliseconds. */
  readonly p50: Column;
  readonly p90: Column;
  readonly p99: Column;
}

export interface MinuteTotals {
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly shed: number;
}

const names = ['requests', 'clientErrors', 'serverErrors', 'p50', 'p90', 'p99'] as const;

/**
 * The last seconds and the state of the gateway. Its arrays have one length and are changed in place, so a page that is open for a week needs
 * what it needs after five minutes.
 */
export class LiveWindow {
  readonly columns: Columns = {
    time: Array.from({ length: windowLength }, (_, at) => at - windowLength),
    requests: emptyColumn(),
    clientErrors: emptyColumn(),
    serverErrors: emptyColumn(),
    p50: emptyColumn(),
    p90: emptyColumn(),
    p99: emptyColumn(),
  };
  /** The last second; null: none has arrived. */
  latest: Second | null = null;
  /** Null: not known yet. */
  state: OverviewState | null = null;
  /** Counts the renderings. */
  version = 0;
  readonly #counts: Record<keyof MinuteTotals, number[]> = {
    requests: zeros(),
    clientErrors: zeros(),
    serverErrors: zeros(),
    shed: zeros(),
  };
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #renderedAt = Number.NEGATIVE_INFINITY;

  /** Calls back when the page has to be rendered, at most once a second. Returns what ends it. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly received = ({ name, data }: StreamEvent): void => {
    if (name === 'second') this.#addSecond(data as Second);
    if (name !== 'state') return;
    // The second that follows renders it, unless it is the first.
    const first = this.state === null;
    this.state = { ...(this.state ?? unknownState), ...(data as Partial<OverviewState>) };
    if (first) this.#render();
  };

  /** Of the last minute. */
  totals(): MinuteTotals {
    const sum = (counts: readonly number[]): number => {
      let total = 0;
      for (let at = windowLength - minute; at < windowLength; at++) total += counts[at]!;
      return total;
    };
    const { requests, clientErrors, serverErrors, shed } = this.#counts;
    return {
      requests: sum(requests),
      clientErrors: sum(clientErrors),
      serverErrors: sum(serverErrors),
      shed: sum(shed),
    };
  }

  #addSecond(second: Second): void {
    const { time, seconds, errors, latency } = second;
    const { columns } = this;
    // A clock that was set back: what is there is of another time.
    if (time <= columns.time[0]!) this.#clear();
    this.#advanceTo(time);
    const at = time - columns.time[0]!;
    // After an interruption the gateway repeats the past.
    if (columns.requests[at] !== null) return;
    const perSecond = 1 / Math.max(seconds, 0.5);
    const values: Readonly<Record<(typeof names)[number], number | null>> = {
      requests: second.requests * perSecond,
      clientErrors: errors['4xx'] * perSecond,
      serverErrors: errors['5xx'] * perSecond,
      p50: latency?.p50 ?? null,
      p90: latency?.p90 ?? null,
      p99: latency?.p99 ?? null,
    };
    // A second that a busy thread ended late covers several.
    const first = Math.max(0, at - Math.max(1, Math.round(seconds)) + 1);
    for (let covered = first; covered <= at; covered++) {
      if (columns.requests[covered] !== null) continue;
      for (const name of names) columns[name][covered] = values[name];
    }
    this.#counts.requests[at] = second.requests;
    this.#counts.clientErrors[at] = errors['4xx'];
    this.#counts.serverErrors[at] = errors['5xx'];
    this.#counts.shed[at] = second.shed_requests;
    if (this.latest === null || time > this.latest.time) this.latest = second;
    this.#render();
  }

  #advanceTo(time: number): void {
    const { columns } = this;
    const by = Math.min(time - columns.time[windowLength - 1]!, windowLength);
    if (by <= 0) return;
    for (let at = 0; at < windowLength; at++) columns.time[at] = time - windowLength + 1 + at;
    for (const name of names) columns[name].copyWithin(0, by).fill(null, windowLength - by);
    for (const counts of Object.values(this.#counts)) counts.copyWithin(0, by).fill(0, windowLength - by);
  }

  #clear(): void {
    for (let at = 0; at < windowLength; at++) this.columns.time[at] = at - windowLength;
    for (const name of names) this.columns[name].fill(null);
    for (const counts of Object.values(this.#counts)) counts.fill(0);
    this.latest = null;
  }

  #render(): void {
    if (this.#timer !== null) return;
    const wait = Math.max(0, this.#renderedAt + renderInterval - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#renderedAt = performance.now();
      this.version++;
      for (const listener of this.#listeners) listener();
    }, wait);
  }
}

const unknownState: OverviewState = {
  failing_targets: null,
  circuits: null,
  limits: null,
  workers: null,
  nodes: null,
  certificates: null,
  config: null,
  database: null,
  log: null,
};

function emptyColumn(): Column {
  return new Array<number | null>(windowLength).fill(null);
}

function zeros(): number[] {
  return new Array<number>(windowLength).fill(0);
}
