import assert from 'node:assert/strict';
import { until } from '../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: records are read member by member.
export type Record = any;

/** An event of a live tail. */
export interface TailEvent {
  readonly event: string;
  readonly data: Record;
}

/** An open live tail. */
export interface Tail extends AsyncDisposable {
  readonly status: number;
  readonly headers: Headers;
  /** All events so far. */
  readonly events: readonly TailEvent[];
  /** Exactly what arrived. */
  readonly text: string;
  /** Resolves when the stream has ended. */
  readonly ended: Promise<void>;
  /** Waits for an event. */
  find(test: (event: TailEvent) => boolean): Promise<TailEvent>;
  /** `request` events. */
  requests(): readonly Record[];
}

/** Opens `/traffic/live`, and waits until the workers record. */
export async function openTail(
  adminUrl: string,
  query = '',
  headers: globalThis.Record<string, string> = {},
): Promise<Tail> {
  const stop = new AbortController();
  const response = await fetch(`${adminUrl}/traffic/live${query}`, { headers, signal: stop.signal });
  let text = '';
  const read = async (): Promise<void> => {
    if (response.body === null) return;
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) text += piece;
  };
  const ended = read().catch(() => {});
  const tail: Tail = {
    status: response.status,
    headers: response.headers,
    ended,
    get text() {
      return text;
    },
    get events() {
      return eventsIn(text);
    },
    requests: () => eventsIn(text).flatMap(({ event, data }) => (event === 'request' ? [data] : [])),
    async find(test) {
      await until(() => eventsIn(text).some(test));
      return eventsIn(text).find(test) as TailEvent;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
  if (response.status === 200) await tail.find(({ event }) => event === 'rate');
  return tail;
}

/** Reads as the standard for event streams says: a line ends with LF, CR or both. */
function eventsIn(text: string): readonly TailEvent[] {
  const events: TailEvent[] = [];
  const whole = text.slice(0, text.lastIndexOf('\n\n') + 2);
  for (const block of whole.split(/\r\n\r\n|\n\n|\r\r/)) {
    // A comment shows proxies that the connection is in use.
    if (block === '' || block === ': heartbeat') continue;
    const fields = new Map<string, string>();
    for (const line of block.split(/\r\n|\n|\r/)) {
      const colon = line.indexOf(': ');
      assert.ok(colon > 0, `no field: ${JSON.stringify(line)}`);
      fields.set(line.slice(0, colon), line.slice(colon + 2));
    }
    assert.deepEqual([...fields.keys()], ['event', 'data'], block);
    events.push({ event: fields.get('event') ?? '', data: JSON.parse(fields.get('data') ?? '') });
  }
  return events;
}
