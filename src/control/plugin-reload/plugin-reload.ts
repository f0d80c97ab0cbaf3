import { isPlugin, type Plugin, type PluginModule } from '../../plugin-sdk/define-plugin.ts';
import type { Row } from '../../shared/entities/entity.ts';
import type { ZoneChanges } from '../../shared/messages/messages.ts';
import type { PluginCodeAppliedMessage } from '../../shared/messages/plugin-code.ts';
import { importVersion } from '../../shared/plugin-loader/code/code-hooks.ts';
import { rememberOrigin } from '../../shared/plugin-loader/plugin-origin.ts';
import { type PluginProblem, type TriedPlugin, withoutPlace } from '../../shared/plugin-loader/trial/trial.ts';
import type { SupervisorLog } from '../supervisor/supervisor-options.ts';
import type { WorkerHandle } from '../supervisor/worker-handle.ts';
import { type NodePluginCode, problemText } from './node-plugin-code.ts';
import { refusal } from './refusals.ts';
import { type ReloadOutcome, ReloadRuns } from './reload-outcome.ts';
import { type SwapFailure, WorkerSwaps } from './worker-swaps.ts';

/** The parts of the control plane that have plugins. */
export interface PluginUsers {
  /** Loads what validation needs. The returned function puts the code in effect for all of them; it must not throw. */
  prepare(plugins: readonly Plugin[]): Promise<() => void>;
  /** Zones for this code in addition to those of the current one; an empty map: only those. */
  tryZones(candidates: ReadonlyMap<string, Plugin>): ZoneChanges | null;
  /** Rows of the entity `plugins`. */
  rows(): readonly Row[];
}

export interface ReloadWorkers {
  /** All threads. */
  workers(): readonly WorkerHandle[];
  /** Those that listen and respond. */
  running(): readonly WorkerHandle[];
  forgive(instances: readonly string[]): void;
}

export interface PluginReloadOptions {
  readonly code: NodePluginCode;
  readonly users: PluginUsers;
  readonly workers: ReloadWorkers;
  readonly log: SupervisorLog;
}

export interface ReloadRequest {
  /** Milliseconds for which one worker alone runs the new code; 0: all workers get it at once. */
  readonly observe: number;
}

/** Versions of plugins that a process may load in reloads that observe: modules cannot be unloaded. */
export const maxVersions = 100;

interface Candidate {
  readonly tried: readonly TriedPlugin[];
  readonly before: readonly TriedPlugin[];
  readonly plugins: ReadonlyMap<string, Plugin>;
  readonly apply: () => void;
}

/** Replaces the code of users' plugins in a running node. One reload at a time. */
export class PluginReload {
  readonly #options: PluginReloadOptions;
  readonly #swaps = new WorkerSwaps();
  #running = false;
  #last: ReloadOutcome | null = null;

  constructor(options: PluginReloadOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#running;
  }

  /** Of the last reload; null: there was none. */
  get last(): ReloadOutcome | null {
    return this.#last;
  }

  /** Reads the code again and uses it, if it has changed and can be used. Rejects with a `ReloadRuns` only. */
  async run(request: ReloadRequest): Promise<ReloadOutcome> {
    if (this.#running) throw new ReloadRuns();
    this.#running = true;
    const began = performance.now();
    try {
      const outcome = { ...(await this.#run(request)), took: Math.round(performance.now() - began) };
      this.#last = outcome;
      this.#report(outcome);
      return outcome;
    } finally {
      this.#running = false;
    }
  }

  answered(message: PluginCodeAppliedMessage): void {
    this.#swaps.answered(message);
  }

  /** A worker has ended. */
  ended(worker: number): void {
    this.#swaps.ended(worker);
  }

  async #run(request: ReloadRequest): Promise<Omit<ReloadOutcome, 'took'>> {
    const { code, users } = this.#options;
    if (!code.isNeeded || code.isCurrent()) return { state: 'unchanged', plugins: [] };
    const result = await code.read(users.rows());
    if (!result.ok) return refused([], result.problem);
    const reason = refusal(code.plugins, result.plugins);
    const versions = new Set(code.codes.map(({ version }) => version));
    const tried = result.plugins.filter(({ code: { version } }) => !versions.has(version));
    const names = tried.map(({ name }) => name);
    if (reason !== null) return { state: 'refused', plugins: names, reason };
    if (tried.length === 0) return { state: 'unchanged', plugins: [] };
    if (request.observe > 0 && code.versions >= maxVersions && tried.some((plugin) => !code.hasLoaded(plugin.code))) {
      const full = `this process has loaded ${code.versions} versions of plugins, which stay in its memory`;
      return {
        state: 'refused',
        plugins: names,
        reason: `${full}: use \`sluicegate upgrade\``,
        needs_new_process: true,
      };
    }
    try {
      return await this.#replace(await this.#prepare(tried), request);
    } catch (error) {
      return refused(names, withoutPlace(error instanceof Error ? error.message : String(error)));
    }
  }

  /** Loads the code in this thread. */
  async #prepare(tried: readonly TriedPlugin[]): Promise<Candidate> {
    const { code, users } = this.#options;
    code.use(tried);
    const plugins = new Map<string, Plugin>();
    for (const { name, code: version } of tried) {
      const { default: plugin } = (await importVersion(version)) as Partial<PluginModule>;
      if (!isPlugin(plugin) || plugin.name !== name) throw new Error(`plugin '${name}' differs from its trial`);
      rememberOrigin(plugin, version.file);
      plugins.set(name, plugin);
    }
    const before = code.plugins.filter(({ name }) => plugins.has(name));
    return { tried, before, plugins, apply: await users.prepare([...plugins.values()]) };
  }

  async #replace(candidate: Candidate, _request: ReloadRequest): Promise<Omit<ReloadOutcome, 'took'>> {
    const { users, workers } = this.#options;
    const zones = users.tryZones(candidate.plugins);
    const names = [...candidate.plugins.keys()];
    const failure = await this.#swapAll(workers.workers(), candidate.tried, zones);
    if (failure !== null) return await this.#rollBack(candidate, failure);
    this.#adopt(candidate);
    return { state: 'live', plugins: names };
  }

  /** The control plane uses the code, and workers that start do. */
  #adopt({ tried, apply }: Candidate): void {
    const { code, users, workers } = this.#options;
    code.adopt(tried);
    apply();
    workers.forgive(this.#instances(tried));
    this.#dropZones(users.tryZones(new Map()));
  }

  async #rollBack({ before, tried }: Candidate, reason: string | PluginProblem): Promise<Omit<ReloadOutcome, 'took'>> {
    const { code, users, workers } = this.#options;
    code.use(before);
    workers.forgive(this.#instances(before));
    await this.#swapAll(workers.workers(), before, null);
    this.#dropZones(users.tryZones(new Map()));
    const outcome = { state: 'rolled_back' as const, plugins: tried.map(({ name }) => name) };
    return typeof reason === 'string'
      ? { ...outcome, reason }
      : { ...outcome, reason: problemText(reason), problem: reason };
  }

  /** One worker after the other. Returns why one of them could not use the code; null: all use it, or have ended. */
  async #swapAll(
    workers: readonly WorkerHandle[],
    plugins: readonly TriedPlugin[],
    zones: ZoneChanges | null,
  ): Promise<string | PluginProblem | null> {
    const codes = plugins.map(({ code }) => code);
    for (const worker of workers) {
      const failure = await this.#swaps.swap(worker, codes, zones);
      const reason = failure === null ? null : reasonOf(worker, failure);
      if (reason !== null) return reason;
    }
    return null;
  }

  #dropZones(zones: ZoneChanges | null): void {
    if (zones === null) return;
    for (const worker of this.#options.workers.workers()) void this.#swaps.swap(worker, [], zones);
  }

  #instances(plugins: readonly TriedPlugin[]): readonly string[] {
    const names = new Set(plugins.map(({ name }) => name));
    return this.#options.users.rows().flatMap((row) => (names.has(String(row['name'])) ? [row.id] : []));
  }

  #report({ state, plugins, took, ...why }: ReloadOutcome): void {
    if (state === 'unchanged') return;
    const { log, code } = this.#options;
    const fields = { plugins, took_ms: took, versions: code.versions, ...why };
    if (state === 'live') log.log('notice', 'the code of plugins was replaced', fields);
    else if (state === 'refused') log.log('warn', 'new code of plugins was refused', fields);
    else log.log('error', 'new code of plugins was rolled back', fields);
  }
}

function reasonOf({ number }: WorkerHandle, failure: SwapFailure): string | PluginProblem {
  if (failure === 'ended') return `worker ${number} ended while it loaded the code`;
  if (failure === 'late') return `worker ${number} did not load the code in time`;
  const { message, file, line, column } = failure;
  return { message, file, line, column };
}

function refused(plugins: readonly string[], problem: PluginProblem): Omit<ReloadOutcome, 'took'> {
  return { state: 'refused', plugins, reason: problemText(problem), problem };
}
