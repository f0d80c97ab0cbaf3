import { readFile } from 'node:fs/promises';
import {
  type ConfigDocument,
  type ConfigProblem,
  DocumentError,
  type TextPosition,
} from '../../control/declarative/contract.ts';
import type { ConfigLoader } from '../../control/declarative/db-less/config-loader.ts';
import { LoadError, type LoadedConfig, type RecordLoad } from '../../control/declarative/db-less/declarative-config.ts';
import type { LeftOut } from '../../control/declarative/declare/keep-last-good.ts';
import { documentFrom } from '../../control/declarative/document/parse-document.ts';
import { problemLines } from '../../control/declarative/problems/problem-lines.ts';
import { isConfigModule, loadConfigModule } from '../../shared/config-module/load-config-module.ts';
import type { ErrorLog } from '../../shared/logs/error-log.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { watchFile } from '../../shared/util/files/watch-file.ts';

export interface DeclaredSourceOptions {
  readonly settings: Settings['declarative'];
  readonly loader: ConfigLoader;
  readonly log: ErrorLog;
}

/** Maximum lines of one kind that a load logs. */
const maxLines = 100;

/** The document of `declarative_config` or `declarative_config_string`, which a node without a database loads at start and on reload. */
export class DeclaredSource {
  #settings: Settings['declarative'];
  readonly #loader: ConfigLoader;
  readonly #log: ErrorLog;
  #stopWatching: () => void = () => {};

  constructor({ settings, loader, log }: DeclaredSourceOptions) {
    this.#settings = settings;
    this.#loader = loader;
    this.#log = log;
  }

  /** Whether the settings name a document. */
  get exists(): boolean {
    return this.#settings.file !== null || this.#settings.text !== null;
  }

  /**
   * Loads the document into the store, before any worker has a config. Rejects with one line when the document cannot be used; an
   * invalid entity is logged, and the rest is loaded.
   */
  async start(): Promise<void> {
    if (!this.exists) return;
    this.#watch();
    try {
      this.#report(await this.#loader.loadUnpublished(await this.#read(), this.#record));
    } catch (error) {
      throw new Error(this.#failure(error), { cause: error });
    }
  }

  /**
   * Loads the document that these settings name, and uses the settings from now on. Rejects with one line when the document cannot be
   * used; then the config and the settings stay as they were.
   */
  async reload(settings: Settings['declarative']): Promise<void> {
    const before = this.#settings;
    this.#settings = settings;
    try {
      await this.#loadAgain();
    } catch (error) {
      const reason = this.#failure(error);
      this.#settings = before;
      throw new Error(`${reason}; the config stays as it was`, { cause: error });
    }
    if (settings.file === before.file && settings.watch === before.watch) return;
    this.#stopWatching();
    this.#watch();
  }

  /** The file has changed. Whatever is wrong with it is logged. */
  async #changed(): Promise<void> {
    try {
      await this.#loadAgain();
    } catch (error) {
      this.#log.error(`${this.#failure(error)}; the config stays as it was`);
    }
  }

  async #loadAgain(): Promise<void> {
    if (this.exists) this.#report(await this.#loader.loadInTurn(await this.#read(), this.#record));
  }

  close(): void {
    this.#stopWatching();
  }

  readonly #record: RecordLoad = async (writer) => {
    writer.attribute({ actor: '', action: 'apply', note: this.#origin().source });
  };

  #watch(): void {
    const { file, watch } = this.#settings;
    this.#stopWatching = () => {};
    if (watch && file !== null) this.#stopWatching = watchFile({ path: file, changed: () => this.#changed() });
  }

  async #read(): Promise<string | ConfigDocument> {
    const { file, text } = this.#settings;
    if (text !== null) return text;
    if (file !== null && isConfigModule(file)) return documentFrom(await loadConfigModule(file));
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file ?? ''));
  }

  #report({ hash, problems, changes }: LoadedConfig): void {
    const { created, updated, deleted, unchanged } = changes;
    this.#log.notice('loaded the declarative config', {
      ...this.#origin(),
      hash,
      created,
      updated,
      deleted,
      unchanged,
    });
    for (const problem of problems.slice(0, maxLines)) this.#reportInvalid(problem);
    for (const left of changes.leftOut.slice(0, maxLines)) this.#reportLeftOut(left);
  }

  #reportInvalid(problem: ConfigProblem): void {
    const { entity, id, name } = problem;
    this.#log.error('an entity of the declarative config is invalid; the valid ones are used', {
      ...this.#origin(),
      entity,
      id,
      name,
      problems: problemLines([problem]),
    });
  }

  #reportLeftOut({ entity, id, label, kept, reason }: LeftOut): void {
    this.#log.warn(
      kept
        ? 'a part of the declarative config is not used; its last good version is'
        : 'a part of the declarative config is not used',
      { ...this.#origin(), entity, id, label, reason },
    );
  }

  #origin(): { readonly source: string } {
    return { source: this.#settings.file ?? 'declarative_config_string' };
  }

  #failure(error: unknown): string {
    const { file } = this.#settings;
    return `error parsing declarative config ${file === null ? 'string' : `file ${file}`}: ${reasonOf(error)}`;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof DocumentError) return at(error.position) + error.message;
  if (error instanceof LoadError && error.problems.length > 0) return problemLines(error.problems).join('; ');
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'the text is not valid UTF-8';
  return error instanceof Error ? error.message : String(error);
}

function at(position: TextPosition | null): string {
  return position === null ? '' : `line ${position.line}, column ${position.column}: `;
}
