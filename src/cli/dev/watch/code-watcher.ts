import { type FSWatcher, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { isWatchedName, type Scan, scan, sizeOf, versionOf } from './scan-folders.ts';

/** Files that have changed together: those that an editor saves at once come in one batch. */
export interface ChangedFiles {
  readonly files: readonly string[];
  /** When the first change was noticed, by `performance.now()`. */
  readonly noticed: number;
}

export interface CodeWatcherOptions {
  /** Folders that are watched with all that is below. */
  readonly roots: readonly string[];
  /** Called with what has changed since the last call. Must not throw. */
  readonly changed: (change: ChangedFiles) => void;
  /** Milliseconds without a further change after which a save counts as complete. Default 15. */
  readonly settle?: number;
  /** Milliseconds after the first change at which waiting ends. Default 150. */
  readonly longest?: number;
  /** Milliseconds between two looks at all files, for changes that the system did not notify of. Default 1000. */
  readonly interval?: number;
  /** How notifications are requested. Default: `watch` of `node:fs`. */
  readonly watchFolder?: typeof watch;
}

/** Milliseconds between two looks where the system notifies of nothing. */
const fallbackInterval = 150;
/** Files above which a look at all of them is made less often. */
const manyFiles = 500;

/**
 * Watches the code of plugins. Notifications of the system come first; a look at all files from time to time finds what they
 * missed, as on network file systems or where the system allows no more watches.
 */
export class CodeWatcher {
  readonly #options: CodeWatcherOptions;
  readonly #watches = new Map<string, FSWatcher | null>();
  readonly #pending = new Set<string>();
  /** Files outside the roots. */
  #others: readonly string[] = [];
  #known: Scan;
  #noticed = 0;
  #settling: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;

  constructor(options: CodeWatcherOptions) {
    this.#options = options;
    this.#known = scan(options.roots, []);
    this.#watchFolders();
    this.#lookLater();
  }

  /** Some folders are not watched, because there are too many. */
  get truncated(): boolean {
    return this.#known.truncated;
  }

  /** A change was noticed, and is not reported yet. */
  get isSettling(): boolean {
    return this.#pending.size > 0;
  }

  /** The system cannot notify of changes in some folder. */
  get polls(): boolean {
    return [...this.#watches.values()].includes(null);
  }

  /** Watches these files too, wherever they are; replaces those of the last call. */
  watchAlso(files: readonly string[]): void {
    this.#others = files.filter((file) => !this.#known.files.has(file) || this.#others.includes(file));
    const { files: known, folders, truncated } = this.#known;
    const added = this.#others.flatMap((file) => {
      const version = known.has(file) ? null : versionOf(file);
      return version === null ? [] : [[file, version] as const];
    });
    this.#known = { files: new Map([...known, ...added]), folders, truncated };
    this.#watchFolders();
  }

  close(): void {
    clearTimeout(this.#settling);
    clearTimeout(this.#looking);
    for (const one of this.#watches.values()) one?.close();
    this.#watches.clear();
  }

  #watchFolders(): void {
    const wanted = new Set([...this.#known.folders, ...this.#others.map((file) => dirname(file))]);
    for (const [folder, one] of this.#watches) {
      if (wanted.has(folder)) continue;
      one?.close();
      this.#watches.delete(folder);
    }
    for (const folder of wanted) if (!this.#watches.has(folder)) this.#watches.set(folder, this.#watch(folder));
  }

  /** Null: the system cannot watch it. */
  #watch(folder: string): FSWatcher | null {
    const { watchFolder = watch } = this.#options;
    try {
      const watcher = watchFolder(folder, { persistent: false }, (_event, name) => this.#notified(folder, name));
      watcher.on('error', () => {
        watcher.close();
        // A folder that is gone is no longer wanted after the next look.
        if (this.#watches.get(folder) === watcher) this.#watches.set(folder, null);
      });
      return watcher;
    } catch {
      return null;
    }
  }

  #notified(folder: string, name: string | null): void {
    if (name === null || !name.includes('.')) {
      // A folder perhaps, or the system did not say which file.
      this.#look();
      return;
    }
    if (isWatchedName(name)) this.#note(join(folder, name));
  }

  #note(file: string): void {
    if (this.#pending.size === 0) this.#noticed = performance.now();
    this.#pending.add(file);
    this.#settleLater();
  }

  #settleLater(): void {
    const { settle = 15, longest = 150 } = this.#options;
    const rest = Math.max(0, this.#noticed + longest - performance.now());
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#settle(rest > 0), Math.min(settle, rest));
  }

  /** `patient`: a file that is empty is perhaps still being written. */
  #settle(patient: boolean): void {
    const files = new Map(this.#known.files);
    const changed: string[] = [];
    for (const file of this.#pending) {
      const version = versionOf(file);
      if (version === (files.get(file) ?? null)) continue;
      if (patient && version !== null && sizeOf(file) === 0) {
        this.#settleLater();
        return;
      }
      changed.push(file);
      if (version === null) files.delete(file);
      else files.set(file, version);
    }
    this.#pending.clear();
    this.#known = { ...this.#known, files };
    if (changed.length > 0) this.#options.changed({ files: changed, noticed: this.#noticed });
  }

  #lookLater(): void {
    const { interval = 1000 } = this.#options;
    const factor = Math.ceil(this.#known.files.size / manyFiles) || 1;
    const wait = (this.polls ? Math.min(fallbackInterval, interval) : interval) * factor;
    this.#looking = setTimeout(() => {
      this.#look();
      this.#lookLater();
    }, wait).unref();
  }

  /** Compares all files with what is known of them. */
  #look(): void {
    const seen = scan(this.#options.roots, this.#others);
    const before = this.#known.files;
    this.#known = { ...seen, files: before };
    for (const file of new Set([...before.keys(), ...seen.files.keys()])) {
      if (seen.files.get(file) !== before.get(file)) this.#note(file);
    }
    this.#watchFolders();
  }
}
