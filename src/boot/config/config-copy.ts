import { join } from 'node:path';
import { readLastGood, writeLastGood } from '../../control/publish/last-good.ts';
import { LastGoodWriter } from '../../control/publish/last-good-writer.ts';
import type { Publisher } from '../../control/publish/publisher.ts';
import type { Dump, FeedPosition } from '../../control/store/store.ts';
import type { ErrorLog } from '../../shared/logs/error-log.ts';

/** What a node can start with when its store is unavailable. */
export type SavedConfig = { readonly dump: Dump } | { readonly unusable: string };

/** Null: there is no copy, or it is from a version that did not name its store. */
export function positionOf(saved: SavedConfig): FeedPosition | null {
  if (!('dump' in saved) || saved.dump.store === '') return null;
  const { store, version, stamp } = saved.dump;
  return { store, version, stamp };
}

/** The node's copy of the last good config, for a node whose store is on another host. */
export class ConfigCopy {
  readonly path: string;
  readonly #log: ErrorLog;
  #writer: LastGoodWriter | null = null;

  constructor(prefix: string, log: ErrorLog) {
    this.path = join(prefix, 'last-good.json');
    this.#log = log;
  }

  /** Never rejects. */
  async read(): Promise<SavedConfig> {
    try {
      return { dump: await readLastGood(this.path) };
    } catch (error) {
      return { unusable: error instanceof Error ? error.message : String(error) };
    }
  }

  /** From now on writes every change to the copy. */
  keep(publisher: Publisher): void {
    const writer = new LastGoodWriter({
      write: () => writeLastGood(this.path, publisher.config(), publisher.position),
      onError: (error) => this.#log.error('the copy of the last good config cannot be written', { err: error }),
    });
    this.#writer = writer;
    publisher.keepLastGood(writer);
  }

  /** The config was read from elsewhere than the copy. */
  changed(): void {
    this.#writer?.changed();
  }
}
