import { setImmediate as nextTurn } from 'node:timers/promises';
import { type SnapshotDelta, snapshotEntities } from '../../../shared/messages/messages.ts';
import type { FeedPosition } from '../../store/store.ts';
import type { ToDataPlane } from '../protocol/messages.ts';
import { encodeMessage, textBatches } from './text-batches.ts';

/** Milliseconds for which it stays after its last use: data planes often join one after the other. */
const linger = 2000;

export interface SharedConfigOptions {
  readonly position: FeedPosition;
  readonly epoch: number;
  /** Maximum bytes of a message. */
  readonly maxPayload: number;
  readonly onUnused: (config: SharedConfig) => void;
}

/** The whole config in one position, as messages. They are made while the fastest data plane reads them. */
export class SharedConfig {
  readonly position: FeedPosition;
  readonly epoch: number;
  readonly #messages: Buffer[] = [];
  readonly #source: Generator<Buffer>;
  readonly #onUnused: (config: SharedConfig) => void;
  #users = 0;
  #complete = false;
  #making: Promise<void> | null = null;
  #unused: NodeJS.Timeout | null = null;

  constructor(config: SnapshotDelta, options: SharedConfigOptions) {
    const { position, epoch, maxPayload, onUnused } = options;
    this.position = position;
    this.epoch = epoch;
    this.#source = messagesOf(config, position, maxPayload);
    this.#onUnused = onUnused;
  }

  acquire(): this {
    this.#users++;
    if (this.#unused !== null) clearTimeout(this.#unused);
    return this;
  }

  release(): void {
    if (--this.#users === 0) this.#unused = setTimeout(() => this.#onUnused(this), linger).unref();
  }

  /** A message by its index, from 0; null: there are no more. */
  async message(index: number): Promise<Buffer | null> {
    while (index >= this.#messages.length && !this.#complete) {
      this.#making ??= this.#make();
      await this.#making;
    }
    return this.#messages[index] ?? null;
  }

  async #make(): Promise<void> {
    await nextTurn();
    const next = this.#source.next();
    if (next.done === true) this.#complete = true;
    else this.#messages.push(next.value);
    this.#making = null;
  }
}

function* messagesOf(config: SnapshotDelta, position: FeedPosition, maxPayload: number): Generator<Buffer> {
  const encode = (json: string): readonly Buffer[] => encodeMessage(json, maxPayload);
  yield* encode(JSON.stringify({ t: 'begin' } satisfies ToDataPlane));
  let total = 0;
  for (const entity of snapshotEntities) {
    for (const rows of textBatches(config.upserts[entity] ?? [])) {
      total += rows.length;
      yield* encode(`{"t":"rows","entity":"${entity}","rows":[${rows.join(',')}]}`);
    }
  }
  yield* encode(JSON.stringify({ t: 'config', position, rows: total } satisfies ToDataPlane));
}
