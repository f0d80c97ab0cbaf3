import type { FeedPosition } from '../../store/store.ts';
import type { ToDataPlane } from '../protocol/messages.ts';
import type { ConfigFeed, FeedStep } from './config-feed.ts';
import type { OutgoingMessages } from './outgoing-messages.ts';

/** Milliseconds until the database is queried again about a position that is ahead of this control plane. */
const retryPause = 2000;

/**
 * Brings one data plane to the newest position, and keeps it there.
 *
 *   unknown    -> following   its position is in the feed, or the database has the changes since
 *   unknown    -> whole       it has no config, or its history is another one
 *   whole      -> following   everything was sent
 *   following  -> unknown     it was too slow: the feed has dropped the step that comes next
 */
export class ConfigStream {
  readonly #feed: ConfigFeed;
  readonly #outgoing: OutgoingMessages;
  readonly #unlisten: () => void;
  #position: FeedPosition | null;
  #place: 'unknown' | 'whole' | 'following' = 'unknown';
  #epoch: number;
  #running = false;
  #again = false;
  #closed = false;
  #retry: NodeJS.Timeout | null = null;

  /** `position`: of the config that the data plane has; null: none. */
  constructor(feed: ConfigFeed, outgoing: OutgoingMessages, position: FeedPosition | null) {
    this.#feed = feed;
    this.#outgoing = outgoing;
    this.#position = position;
    this.#epoch = feed.epoch;
    this.#unlisten = feed.listen(() => this.#wake());
    this.#wake();
  }

  /** Sends everything again. */
  resend(): void {
    this.#position = null;
    this.#place = 'unknown';
    this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#unlisten();
    if (this.#retry !== null) clearTimeout(this.#retry);
  }

  #wake(): void {
    this.#again = true;
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    try {
      while (this.#again && !this.#closed) {
        this.#again = false;
        while (!this.#closed && (await this.#advance()));
      }
    } catch (error) {
      this.#outgoing.fail(`its config could not be sent: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.#running = false;
  }

  /** False: there is nothing to send now. */
  async #advance(): Promise<boolean> {
    const feed = this.#feed;
    if (feed.head.version < 0) return false;
    if (this.#epoch !== feed.epoch) {
      this.#epoch = feed.epoch;
      this.#place = 'whole';
    }
    if (this.#place === 'whole') return this.#sendWhole();
    if (this.#position === null) {
      this.#place = 'whole';
      return true;
    }
    if (this.#place === 'unknown') return this.#locate(this.#position);
    const step = feed.after(this.#position);
    if (step === null) return false;
    if (step === 'gone') this.#place = 'unknown';
    else await this.#sendStep(step);
    return true;
  }

  async #locate(position: FeedPosition): Promise<boolean> {
    const located = await this.#feed.locate(position);
    if (this.#position !== position || this.#place !== 'unknown') return true;
    if (located.kind === 'whole') this.#place = 'whole';
    else if (located.kind === 'in-feed') {
      // The data plane learns that it has everything.
      this.#outgoing.send(current(position));
      this.#place = 'following';
    } else if (located.kind === 'catch-up') {
      await this.#sendStep(located.step);
      // The database has been restored and this control plane does not know it yet.
      if (this.#feed.after(located.step.position) === 'gone') return this.#retryLater();
      this.#place = 'following';
    } else return this.#retryLater();
    return true;
  }

  async #sendStep({ messages, position }: FeedStep): Promise<void> {
    for (const message of messages) {
      const room = this.#outgoing.room();
      if (room !== null) await room;
      this.#outgoing.send(message);
    }
    if (this.#position !== null) this.#position = position;
  }

  async #sendWhole(): Promise<boolean> {
    const config = this.#feed.whole();
    try {
      for (let index = 0; ; index++) {
        const message = await config.message(index);
        if (this.#closed || this.#epoch !== this.#feed.epoch) return true;
        if (message === null) break;
        const room = this.#outgoing.room();
        if (room !== null) await room;
        this.#outgoing.send(message);
      }
      this.#position = config.position;
      this.#place = 'following';
      return true;
    } finally {
      config.release();
    }
  }

  #retryLater(): false {
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      this.#wake();
    }, retryPause).unref();
    return false;
  }
}

function current(position: FeedPosition): string {
  return JSON.stringify({ t: 'changes', changes: [], position } satisfies ToDataPlane);
}
