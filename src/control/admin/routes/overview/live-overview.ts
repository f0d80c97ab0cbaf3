import { keptSeconds, type Second } from '../../../overview/second-ring.ts';
import type { AdminDependencies } from '../../contract.ts';
import { EventStreams, type StreamRequest } from '../../events/event-streams.ts';
import { eventText } from '../../events/event-text.ts';
import type { Answer } from '../../http/admin-route.ts';
import { invalidOptions } from '../../lists/list-errors.ts';
import type { OverviewDocument, OverviewState } from './overview-document.ts';
import { shownSecond } from './traffic-view.ts';

export const maxViewers = 50;
/** Seconds of the past that a stream begins with. */
const defaultHistory = 60;
/** Milliseconds between two looks at what changes rarely. */
const stateInterval = 2_000;
/** Members whose change alone is no event: they change all the time. */
const restless: ReadonlySet<string> = new Set(['age', 'event_loop_delay', 'heap_used', 'requests_per_second']);

export const historyParameter = {
  name: 'history',
  description: 'Number of past seconds that the stream begins with.',
  schema: { type: 'integer', minimum: 0, maximum: keptSeconds, default: defaultHistory },
} as const;

/** `GET /overview/live`: the event `second` each second, and `state` with the parts of the overview that have changed. */
export class LiveOverview {
  readonly #deps: AdminDependencies;
  readonly #document: OverviewDocument;
  readonly #streams: EventStreams;
  /** The parts as they were sent last, without what is restless. */
  #sent = new Map<string, string>();
  #lookedAt = 0;
  #looking = false;
  #leave: (() => void) | null = null;

  constructor(deps: AdminDependencies, document: OverviewDocument) {
    this.#deps = deps;
    this.#document = document;
    this.#streams = new EventStreams({ maxViewers, closing: deps.closing });
  }

  async open(request: StreamRequest, query: StreamRequest['query']): Promise<Answer> {
    const history = readHistory(query);
    const state = await this.#document.state();
    return this.#streams.open(request, (viewer) => {
      const past = this.#deps.overview.seconds.last(history);
      if (past.length > 0) viewer.send(past.map(secondText).join(''), past.length);
      viewer.send(eventText('state', state));
      this.#follow(state);
      return () => this.#left();
    });
  }

  /** Nothing is done for viewers while there are none. */
  #follow(state: OverviewState): void {
    if (this.#leave === null) this.#changed(state);
    this.#leave ??= this.#deps.overview.seconds.onSecond((latest) => {
      this.#streams.broadcast(secondText(latest));
      if (latest.at - this.#lookedAt < stateInterval) return;
      this.#lookedAt = latest.at;
      void this.#look();
    });
  }

  #left(): void {
    if (this.#streams.size > 0) return;
    this.#leave?.();
    this.#leave = null;
    this.#sent.clear();
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const changed = this.#changed(await this.#document.state());
      if (changed !== null) this.#streams.broadcast(eventText('state', changed));
    } catch {
      // The next look may succeed; each viewer has the last state.
    } finally {
      this.#looking = false;
    }
  }

  #changed(state: OverviewState): OverviewState | null {
    const changed = Object.entries(state).filter(([part, value]) => {
      const text = calmText(value);
      const before = this.#sent.get(part);
      this.#sent.set(part, text);
      return before !== text;
    });
    return changed.length === 0 ? null : Object.fromEntries(changed);
  }
}

function secondText(second: Second): string {
  return eventText('second', shownSecond(second), Math.round(second.at / 1000));
}

function calmText(value: unknown): string {
  return JSON.stringify(value, (name, member: unknown) => (restless.has(name) ? undefined : member)) ?? 'null';
}

function readHistory(query: StreamRequest['query']): number {
  const values = query.all('history');
  if (values.length === 0) return defaultHistory;
  const [text = ''] = values;
  const history = /^\d{1,3}$/.test(text) ? Number(text) : -1;
  if (values.length > 1 || history < 0 || history > keptSeconds) {
    throw invalidOptions({ history: `must be given once, an integer between 0 and ${keptSeconds}` });
  }
  return history;
}
