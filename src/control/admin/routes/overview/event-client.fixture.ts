import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { until } from '../../../../../test/support/until.ts';

export interface SeenEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A client of server-sent events. */
export interface EventClient extends Disposable {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** What has arrived so far. */
  readonly text: () => string;
  readonly events: (name?: string) => readonly SeenEvent[];
  /** Waits until the condition holds for the events of that name. */
  readonly seen: (name: string, condition?: (events: readonly SeenEvent[]) => boolean) => Promise<void>;
  /** Resolves when the answer has ended. */
  readonly ended: Promise<void>;
  /** Reads no more, until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
}

export async function openEvents(url: string, headers: Readonly<Record<string, string>> = {}): Promise<EventClient> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request: ClientRequest = get(url, { headers, agent: false }, resolve);
  request.on('error', reject);
  const answer = await promise;
  let text = '';
  answer.setEncoding('utf8');
  answer.on('data', (piece: string) => {
    text += piece;
  });
  const ended = new Promise<void>((done) => {
    answer.on('close', done);
  });
  answer.on('error', () => {});
  const events = (name?: string): readonly SeenEvent[] => {
    const all = eventsIn(text);
    return name === undefined ? all : all.filter((event) => event.name === name);
  };
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    text: () => text,
    events,
    seen: async (name, condition = (found) => found.length > 0) => {
      await until(() => condition(events(name)));
    },
    ended,
    pause: () => answer.pause(),
    resume: () => answer.resume(),
    [Symbol.dispose]: () => request.destroy(),
  };
}

function eventsIn(text: string): readonly SeenEvent[] {
  return [...text.matchAll(/^event: (\S+)\n(?:id: \d+\n)?data: (.*)\n\n/gm)].map(([, name = '', data = '']) => {
    return { name, data: JSON.parse(data) as SeenEvent['data'] };
  });
}
