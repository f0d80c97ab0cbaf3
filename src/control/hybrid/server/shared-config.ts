import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Row } from '../../../shared/entities/entity.ts';
import { type SnapshotDelta, snapshotEntities } from '../../../shared/messages/messages.ts';
import type { FeedPosition } from '../../store/store.ts';
import type { ToDataPlane } from '../protocol/messages.ts';

/** A message ends at this size or number of rows, so that neither end is blocked by one. */
const charactersPerMessage = 128 * 1024;
const rowsPerMessage = 256;
/** Milliseconds for which it stays after its last use: data planes often join one after the other. */
const linger = 2000;

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

  constructor(config: SnapshotDelta, position: FeedPosition, epoch: number, onUnused: (config: SharedConfig) => void) {
    this.position = position;
    this.epoch = epoch;
    this.#source = messagesOf(config, position);
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

function* messagesOf(config: SnapshotDelta, position: FeedPosition): Generator<Buffer> {
  yield encode({ t: 'begin' });
  let total = 0;
  for (const entity of snapshotEntities) {
    let texts: string[] = [];
    let length = 0;
    for (const row of config.upserts[entity] ?? ([] as readonly Row[])) {
      const json = JSON.stringify(row);
      texts.push(json);
      length += json.length;
      total++;
      if (texts.length < rowsPerMessage && length < charactersPerMessage) continue;
      yield rowsMessage(entity, texts);
      texts = [];
      length = 0;
    }
    if (texts.length > 0) yield rowsMessage(entity, texts);
  }
  yield encode({ t: 'config', position, rows: total });
}

function rowsMessage(entity: string, rows: readonly string[]): Buffer {
  return Buffer.from(`{"t":"rows","entity":${JSON.stringify(entity)},"rows":[${rows.join(',')}]}`);
}

function encode(message: ToDataPlane): Buffer {
  return Buffer.from(JSON.stringify(message));
}
