import { createHash } from 'node:crypto';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { Store } from '../../store/store.ts';
import { type AppliedConfig, applyConfig, readConfig } from '../apply/apply-config.ts';
import type { ConfigDocument, ConfigProblem, ConfigRows, DeclaredConfig, EntityChange } from '../contract.ts';
import { declareConfig } from '../declare/declare-config.ts';
import { keepLastGood, type LeftOut } from '../declare/keep-last-good.ts';
import { parseDocument } from '../document/parse-document.ts';
import { exportConfig } from '../export/export-config.ts';
import {
  type DeclarativeConfig,
  emptyHash,
  LoadError,
  type LoadedConfig,
  type RecordLoad,
} from './declarative-config.ts';
import { readLoadedHash, writeLoadedHash } from './loaded-configs.ts';

export interface ConfigLoaderOptions {
  readonly store: Store;
  readonly entities: EntityRegistry;
  /** The setting `hash_keys`. */
  readonly hashKeys: boolean;
  /** Resolves to whether every worker has that version of the store within that time. */
  readonly reached: (version: number, timeout: number) => Promise<boolean>;
  /** A document with any problem is refused as a whole. Default false: its valid part is used. */
  readonly strict?: boolean;
  /** Called when the config becomes empty, or is no longer. */
  readonly empty: (empty: boolean) => void;
  /** Called when a document is in the store, with the number of entities that were looked at. */
  readonly stored: (entities: number) => void;
}

/** Maximum time in milliseconds until every worker has a new config. */
const publishTimeout = 60_000;

/** Loads declarative documents into the store of a node without a database, one at a time. */
export class ConfigLoader implements DeclarativeConfig {
  readonly #options: ConfigLoaderOptions;
  #hash: string = emptyHash;
  #running: Promise<unknown> | null = null;

  constructor(options: ConfigLoaderOptions) {
    this.#options = options;
    options.empty(true);
  }

  get hash(): string {
    return this.#hash;
  }

  get busy(): boolean {
    return this.#running !== null;
  }

  /** Reads what an earlier process loaded. */
  async restore(): Promise<void> {
    this.#loaded((await readLoadedHash(this.#options.store)) ?? emptyHash);
  }

  async load(source: string | ConfigDocument, record: RecordLoad): Promise<LoadedConfig> {
    if (this.busy) throw new LoadError('busy', 'another document is being loaded');
    return this.#alone(() => this.#load(source, record, true));
  }

  /** Like `load`, and waits for a load that is running. */
  async loadInTurn(source: string | ConfigDocument, record: RecordLoad): Promise<LoadedConfig> {
    while (this.#running !== null) await this.#running.catch(() => {});
    return this.load(source, record);
  }

  /** Like `load`, before the workers have a config: it only reaches the store. */
  async loadUnpublished(source: string | ConfigDocument, record: RecordLoad): Promise<LoadedConfig> {
    return this.#alone(() => this.#load(source, record, false));
  }

  async export(): Promise<string> {
    const { entities } = this.#options;
    const { rows } = await readConfig(this.#options);
    return exportConfig(rows, { entities, style: 'kong', format: 'yaml', now: Date.now() });
  }

  async #alone(work: () => Promise<LoadedConfig>): Promise<LoadedConfig> {
    const running = work();
    this.#running = running;
    try {
      return await running;
    } finally {
      this.#running = null;
    }
  }

  async #load(source: string | ConfigDocument, record: RecordLoad, publish: boolean): Promise<LoadedConfig> {
    const { version, loaded } = await this.#store(source, record);
    const { created, updated, deleted, unchanged } = loaded.changes;
    // The document and the plan are garbage now, before the publisher reads the config.
    this.#options.stored(created + updated + deleted + unchanged);
    if (version !== null && publish && !(await this.#options.reached(version, publishTimeout))) {
      throw new LoadError('timeout', 'not every worker has applied the config in time');
    }
    return loaded;
  }

  /** `version`: of the store; null when no entity has changed. */
  async #store(
    source: string | ConfigDocument,
    record: RecordLoad,
  ): Promise<{ readonly version: number | null; readonly loaded: LoadedConfig }> {
    const { store, entities } = this.#options;
    const document = typeof source === 'string' ? parseDocument(source) : source;
    let last: Declared | null = null;
    const applied = await applyConfig(
      { store, entities, publisher: null },
      {
        declare: async (current, now) => {
          last = await this.#declare(document, current, now);
          return { hash: last.hash, rows: last.rows, problems: [] };
        },
        record: async (writer) => {
          await record(writer);
          await writeLoadedHash(writer, (last as Declared).hash);
        },
      },
    );
    if (applied.problems.length > 0) throw new LoadError('invalid', 'the config cannot be stored', applied.problems);
    const declared = last as unknown as Declared;
    // Nothing was written when the entities are the same, and the document may differ all the same.
    if (applied.version === null) await store.write((writer) => writeLoadedHash(writer, declared.hash));
    this.#loaded(declared.hash);
    return { version: applied.version, loaded: outcomeOf(declared, applied) };
  }

  async #declare(document: ConfigDocument, current: ConfigRows, now: number): Promise<Declared> {
    const { entities, hashKeys, strict = false } = this.#options;
    const declared = await declareConfig(document, { entities, hashKeys, current, now });
    const ofDocument = declared.problems.filter(({ entity }) => strict || entity === null);
    if (ofDocument.length > 0) throw new LoadError('invalid', 'the document is invalid', declared.problems);
    const { rows, leftOut } = keepLastGood(declared, current, entities);
    return { rows, leftOut, problems: declared.problems, hash: hashOf(declared, rows) };
  }

  #loaded(hash: string): void {
    this.#hash = hash;
    this.#options.empty(hash === emptyHash);
  }
}

interface Declared {
  readonly rows: ConfigRows;
  readonly leftOut: readonly LeftOut[];
  readonly problems: readonly ConfigProblem[];
  /** See `DeclarativeConfig.hash`. */
  readonly hash: string;
}

function outcomeOf(
  { hash, rows: declared, problems, leftOut }: Declared,
  { plan, stored }: AppliedConfig,
): LoadedConfig {
  const count = (wanted: EntityChange['operation']): number =>
    plan.changes.filter(({ operation }) => operation === wanted).length;
  const changes = {
    created: count('create'),
    updated: count('update'),
    deleted: count('delete'),
    unchanged: plan.unchanged,
    leftOut,
  };
  const rows = Object.fromEntries(Object.entries(declared).map(([entity, all]) => [entity, all.map(stored)]));
  return { hash, rows, problems, changes };
}

/**
 * That of the document, unless the config is not what the document says: a client that sends the document again must not be answered
 * that it is in use.
 */
function hashOf({ hash, problems }: DeclaredConfig, rows: ConfigRows): string {
  if (Object.values(rows).every((each) => each.length === 0)) return emptyHash;
  return problems.length === 0 ? hash : createHash('md5').update(`a part of ${hash}`).digest('hex');
}
