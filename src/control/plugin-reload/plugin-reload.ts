import { isPlugin, type Plugin, type PluginModule } from '../../plugin-sdk/define-plugin.ts';
import type { Row } from '../../shared/entities/entity.ts';
import type { ZoneChanges } from '../../shared/messages/messages.ts';
import type { CodeObservation, PluginCodeAppliedMessage } from '../../shared/messages/plugin-code.ts';
import { importVersion } from '../../shared/plugin-loader/code/code-hooks.ts';
import { rememberOrigin } from '../../shared/plugin-loader/plugin-origin.ts';
import { type PluginProblem, type TriedPlugin, withoutPlace } from '../../shared/plugin-loader/trial/trial.ts';
import { leastRequests } from '../../shared/zones/code-times.ts';
import type { SupervisorLog } from '../supervisor/supervisor-options.ts';
import type { WorkerHandle } from '../supervisor/worker-handle.ts';
import { warnOfUndeclared } from './announce-plugins.ts';
import { Canary, type CanaryOptions, type Verdict } from './canary.ts';
import { type NodePluginCode, problemText } from './node-plugin-code.ts';
import { refusal } from './refusals.ts';
import { type ReloadOutcome, ReloadRuns, type ReloadState } from './reload-outcome.ts';
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
  readonly canary: CanaryOptions;
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
  #last: ReloadState['last'] = null;

  constructor(options: PluginReloadOptions) {
    this.#options = options;
  }

  state(): ReloadState {
    return { running: this.#running, last: this.#last, versions: this.#options.code.versions };
  }

  /** Reads the code again and uses it, if it has changed and can be used. Rejects with a `ReloadRuns` only. */
  async run(request: ReloadRequest): Promise<ReloadOutcome> {
    if (this.#running) throw new ReloadRuns();
    this.#running = true;
    const began = performance.now();
    try {
      const outcome = { ...(await this.#run(request)), took: Math.round(performance.now() - began) };
      this.#last = { ...outcome, ended_at: new Date().toISOString() };
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
    if (code.plugins.length === 0 || (await code.isCurrent())) return { state: 'unchanged', plugins: [] };
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
    await code.use(tried);
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

  async #replace(candidate: Candidate, { observe }: ReloadRequest): Promise<Omit<ReloadOutcome, 'took'>> {
    const { users, workers } = this.#options;
    const zones = users.tryZones(candidate.plugins);
    const plugins = [...candidate.plugins.keys()];
    const swapped: WorkerHandle[] = [];
    let verdict: Verdict | null = null;
    if (observe > 0) {
      verdict = await this.#observe(candidate, zones, observe, swapped);
      if (verdict !== null && verdict.reason !== null)
        return await this.#rollBack(candidate, verdict.reason, swapped, verdict.requests);
    }
    const rest = workers.workers().filter((worker) => !swapped.includes(worker));
    const failure = await this.#swapAll(rest, candidate.tried, zones, swapped);
    if (failure !== null) return await this.#rollBack(candidate, failure, swapped);
    this.#adopt(candidate);
    await this.#catchUp(candidate, swapped);
    return { state: 'live', plugins, ...judged(verdict) };
  }

  /** Workers that started meanwhile have the old code. */
  async #catchUp({ tried }: Candidate, swapped: readonly WorkerHandle[]): Promise<void> {
    const late = this.#options.workers.workers().filter((worker) => !swapped.includes(worker));
    await Promise.all(late.map((worker) => this.#restore(worker, tried)));
  }

  /** One worker gets the code, and is compared with the others. */
  async #observe(
    { plugins, tried }: Candidate,
    zones: ZoneChanges | null,
    observe: number,
    swapped: WorkerHandle[],
  ): Promise<Verdict | null> {
    const canary = new Canary(this.#options.canary, [...plugins.keys()]);
    const worker = await canary.choose();
    // A control plane has no workers; instances that are disabled cannot be observed.
    if (worker === null || this.#instances(tried).length === 0) return null;
    const observation = await canary.before(worker, observe);
    const failure = await this.#swapAll([worker], tried, zones, swapped, observation);
    if (failure === null) return canary.observe(worker, observe);
    canary.end();
    return { reason: failure, requests: 0 };
  }

  /** The control plane uses the code, and workers that start do. */
  #adopt({ tried, apply }: Candidate): void {
    const { code, users, workers, log } = this.#options;
    code.adopt(tried);
    apply();
    warnOfUndeclared(log, tried);
    workers.forgive(this.#instances(tried));
    this.#dropZones(users.tryZones(new Map()));
  }

  /** `swapped`: workers that have, or may have, the new code. */
  async #rollBack(
    { before, tried }: Candidate,
    reason: string | PluginProblem,
    swapped: readonly WorkerHandle[],
    requests?: number,
  ): Promise<Omit<ReloadOutcome, 'took'>> {
    const { code, users, workers } = this.#options;
    await code.use(before);
    workers.forgive(this.#instances(before));
    await Promise.all(swapped.map((worker) => this.#restore(worker, before)));
    this.#dropZones(users.tryZones(new Map()));
    const outcome = {
      state: 'rolled_back' as const,
      plugins: tried.map(({ name }) => name),
      ...(requests === undefined ? {} : { judged_by: requests }),
    };
    if (typeof reason === 'string') return { ...outcome, reason };
    return { ...outcome, reason: problemText(reason), problem: reason };
  }

  /** The worker gets the code that workers start with. One that does not respond is ended by the watchdog, and starts with it. */
  async #restore(worker: WorkerHandle, plugins: readonly TriedPlugin[]): Promise<void> {
    const { workers, log } = this.#options;
    const codes = plugins.map(({ code }) => code);
    const swapping = this.#swaps.swap(worker, codes, null);
    if (!workers.running().includes(worker)) return;
    const failure = await swapping;
    if (failure === null || failure === 'ended') return;
    log.log('crit', 'a worker cannot use the code of plugins that the others use, and is replaced', {
      worker: worker.number,
    });
    await worker.terminate();
  }

  /** One worker after the other; those that were asked are added to `swapped`. Returns why one of them cannot use the code; null: all do. */
  async #swapAll(
    workers: readonly WorkerHandle[],
    plugins: readonly TriedPlugin[],
    zones: ZoneChanges | null,
    swapped: WorkerHandle[],
    observation: CodeObservation | null = null,
  ): Promise<string | PluginProblem | null> {
    const codes = plugins.map(({ code }) => code);
    for (const worker of workers) {
      swapped.push(worker);
      const failure = await this.#swaps.swap(worker, codes, zones, observation);
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

/** What the code was judged by, and whether that was enough. */
function judged(verdict: Verdict | null): Pick<ReloadOutcome, 'judged_by' | 'reason'> {
  if (verdict === null) return {};
  const { requests } = verdict;
  if (requests >= leastRequests) return { judged_by: requests };
  return { judged_by: requests, reason: `judged by ${requests} requests only: too few to compare` };
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
