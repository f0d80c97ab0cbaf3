import { monotonic } from '../../../shared/util/time/clock.ts';
import type { AdminRequest, Answer } from '../http/admin-route.ts';
import { HttpError } from '../http/http-error.ts';
import type { Query } from '../http/query.ts';
import { invalidOptions } from '../lists/list-errors.ts';
import { heartbeatText } from './event-text.ts';
import { EventViewer } from './event-viewer.ts';

export interface EventStreamsOptions {
  /** Maximum simultaneous viewers, over all listeners; further ones get 503. */
  readonly maxViewers: number;
  /** Aborted when the node stops: all streams end. */
  readonly closing: AbortSignal;
  /** Bytes that may wait for each viewer. Default: 256 KiB. */
  readonly maxQueued?: number;
  /** Milliseconds without an event after which a comment is sent. Default: 15 s. */
  readonly heartbeat?: number;
  /** Milliseconds between two checks whether the caller is still signed in, and reads. Default: 5 s. */
  readonly checkInterval?: number;
  /** Milliseconds after which a viewer that does not read is disconnected. Default: 60 s. */
  readonly stallLimit?: number;
  /** Milliseconds for which streams continue while the store is unavailable, so that nobody's rights are known. Default: 60 s. */
  readonly uncheckedLimit?: number;
}

export type StreamRequest = Pick<AdminRequest, 'query' | 'requireStillAllowed'>;

/** Sends what the stream begins with; returns what to call when it has ended. */
export type JoinStream = (viewer: EventViewer) => () => void;

const maxDuration = 86_400;

/** The parameter `duration` of every path with events. */
export const durationParameter = {
  name: 'duration',
  description: 'Seconds after which the stream ends. Default: it does not.',
  schema: { type: 'integer', minimum: 1, maximum: maxDuration },
} as const;

const headers = {
  'cache-control': 'no-store',
  // nginx would collect the events in a buffer.
  'x-accel-buffering': 'no',
};

/**
 * The server-sent events of one path of the Admin API, and everybody who views them. Each stream ends when the node stops, and when its
 * caller could no longer request it: the token was revoked or has expired, the user was deleted or has another role.
 */
export class EventStreams {
  readonly #options: Required<EventStreamsOptions>;
  readonly #viewers = new Set<EventViewer>();

  constructor(options: EventStreamsOptions) {
    this.#options = {
      ...{ maxQueued: 262_144, heartbeat: 15_000, checkInterval: 5_000, stallLimit: 60_000, uncheckedLimit: 60_000 },
      ...options,
    };
    options.closing.addEventListener('abort', () => {
      for (const viewer of [...this.#viewers]) viewer.end('closing');
    });
  }

  /** Number of viewers. */
  get size(): number {
    return this.#viewers.size;
  }

  /** Sends the same events to all viewers. */
  broadcast(text: string, events = 1): void {
    if (this.#viewers.size === 0) return;
    const bytes = Buffer.from(text);
    for (const viewer of this.#viewers) viewer.send(bytes, events);
  }

  /**
   * The answer to a viewer. Throws 503 when there are too many or the node stops. `join` is called before this returns; what it sends is the
   * beginning of the stream.
   */
  open(request: StreamRequest, join: JoinStream): Answer {
    const duration = readDuration(request.query);
    const { closing, maxViewers, maxQueued } = this.#options;
    if (closing.aborted) throw busy('The node is stopping');
    if (this.#viewers.size >= maxViewers)
      throw busy(`${maxViewers} clients view these events already; try again later`);
    const ending: (() => void)[] = [];
    const viewer: EventViewer = new EventViewer({
      maxQueued,
      closed: () => {
        this.#viewers.delete(viewer);
        for (const end of ending) end();
      },
    });
    // The head of the answer is sent with the first bytes.
    viewer.send(heartbeatText, 0);
    this.#viewers.add(viewer);
    ending.push(this.#watch(viewer, request));
    try {
      ending.push(join(viewer));
    } catch (error) {
      viewer.cutOff();
      throw error;
    }
    if (duration !== null) {
      const timer = setTimeout(() => viewer.end('finished'), duration * 1000).unref();
      ending.push(() => clearTimeout(timer));
    }
    return { status: 200, headers, stream: { type: 'text/event-stream; charset=utf-8', body: viewer.body } };
  }

  /** Returns what ends the checks. */
  #watch(viewer: EventViewer, request: StreamRequest): () => void {
    const { checkInterval, heartbeat, stallLimit } = this.#options;
    let checkedAt = monotonic();
    let checking = false;
    const check = async (): Promise<void> => {
      if (checking) return;
      checking = true;
      try {
        await request.requireStillAllowed();
        checkedAt = monotonic();
      } catch (error) {
        const refused = error instanceof HttpError;
        if (refused || monotonic() - checkedAt > this.#options.uncheckedLimit) viewer.end('signed_out');
      } finally {
        checking = false;
      }
    };
    const timer = setInterval(() => {
      if (viewer.stalled > stallLimit) {
        viewer.cutOff();
        return;
      }
      if (viewer.quiet >= heartbeat) viewer.send(heartbeatText, 0);
      void check();
    }, checkInterval).unref();
    return () => clearInterval(timer);
  }
}

function readDuration(query: Query): number | null {
  const values = query.all('duration');
  if (values.length === 0) return null;
  const [text = ''] = values;
  const duration = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (values.length > 1 || duration < 1 || duration > maxDuration) {
    throw invalidOptions({ duration: `must be given once, an integer between 1 and ${maxDuration}` });
  }
  return duration;
}

function busy(message: string): HttpError {
  return new HttpError(503, { message }, { 'retry-after': '5' });
}
