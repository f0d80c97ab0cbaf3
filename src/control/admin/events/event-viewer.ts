import { Readable } from 'node:stream';
import { monotonic } from '../../../shared/util/time/clock.ts';
import { eventText } from './event-text.ts';

/**
 * Why a stream ended; the data of its last event. `closing`: the node stops. `finished`: its `duration` is over. `signed_out`: the token
 * was revoked or has expired, or the rights of the caller changed.
 */
export type EndReason = 'closing' | 'finished' | 'signed_out';

export interface EventViewerOptions {
  /** Bytes that wait for the client; beyond them, the oldest are dropped. */
  readonly maxQueued: number;
  /** Called once, when nothing is sent any more. */
  readonly closed: () => void;
}

interface QueuedText {
  readonly bytes: Buffer;
  readonly events: number;
}

/** Bytes in the stream itself, in front of the buffer of the connection. */
const highWaterMark = 16_384;
/** Milliseconds for the client to read the rest after the end. */
const endGrace = 1_000;

/**
 * The stream of one client. What the client does not read waits in a bounded queue. When that is full, the oldest events are dropped; the
 * client learns how many by the event `dropped`, in their place.
 */
export class EventViewer {
  readonly body: Readable;
  readonly #options: EventViewerOptions;
  readonly #queue: QueuedText[] = [];
  #queued = 0;
  #wanted = false;
  #unreported = 0;
  #dropped = 0;
  #ended = false;
  #sentAt = monotonic();
  /** When the client last read, or had read everything. */
  #readAt = monotonic();

  constructor(options: EventViewerOptions) {
    this.#options = options;
    this.body = new Readable({ highWaterMark, read: () => this.#pump() });
    // An error only means that the connection is cut off.
    this.body.on('error', () => {});
    this.body.once('close', () => this.#close());
  }

  /** Queues whole events. `events`: how many there are in `text`. */
  send(text: string | Buffer, events = 1): void {
    if (this.#ended) return;
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    this.#sentAt = monotonic();
    if (this.#wanted && this.#queue.length === 0) {
      this.#push(bytes);
      return;
    }
    if (this.#queue.length === 0) this.#readAt = this.#sentAt;
    this.#queue.push({ bytes, events });
    this.#queued += bytes.length;
    while (this.#queued > this.#options.maxQueued && this.#queue.length > 1) this.#drop();
  }

  /** Events that were dropped since the beginning. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Milliseconds since the last event was sent. */
  get quiet(): number {
    return monotonic() - this.#sentAt;
  }

  /** Milliseconds for which the client has not read what waits for it; 0: nothing waits. */
  get stalled(): number {
    return this.#queue.length === 0 ? 0 : monotonic() - this.#readAt;
  }

  /** Sends the event `end`, and what waits, to clients that read it at once. */
  end(reason: EndReason): void {
    if (this.#ended) return;
    // The client may no longer see what waits for it.
    if (reason === 'signed_out') this.#forget();
    this.send(eventText('end', { reason }));
    this.#close();
    this.#flush();
    const late = setTimeout(() => this.body.destroy(), endGrace).unref();
    this.body.once('close', () => clearTimeout(late));
  }

  /** Disconnects the client. */
  cutOff(): void {
    this.#close();
    this.body.destroy(new Error('the client does not read the events'));
  }

  #close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.closed();
  }

  /** The client reads. */
  #pump(): void {
    this.#wanted = true;
    this.#readAt = monotonic();
    this.#flush();
  }

  #flush(): void {
    while (this.#wanted) {
      if (this.#unreported > 0) {
        const events = this.#unreported;
        this.#unreported = 0;
        this.#push(Buffer.from(eventText('dropped', { events })));
        continue;
      }
      const next = this.#queue.shift();
      if (next === undefined) break;
      this.#queued -= next.bytes.length;
      this.#push(next.bytes);
    }
    if (this.#ended && this.#queue.length === 0 && !this.body.destroyed) this.body.push(null);
  }

  #push(bytes: Buffer): void {
    if (!this.body.push(bytes)) this.#wanted = false;
  }

  #forget(): void {
    this.#queue.length = 0;
    this.#queued = 0;
    this.#unreported = 0;
  }

  #drop(): void {
    const oldest = this.#queue.shift();
    if (oldest === undefined) return;
    this.#queued -= oldest.bytes.length;
    this.#dropped += oldest.events;
    this.#unreported += oldest.events;
  }
}
