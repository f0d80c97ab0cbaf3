import type { Call, CallResult, Found } from '../../shared/lookup/calls.ts';
import type { DryRequest, DryResult, DryRunBoot } from '../../shared/messages/dry-run.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';
import type { PluginCode } from '../../shared/plugin-loader/code/plugin-code.ts';
import { FairQueue, overloaded } from '../../shared/util/time/fair-queue.ts';
import { entityMark } from '../../shared/zones/worker-vitals.ts';
import type { KeptRecord } from '../traffic/traffic-ring.ts';
import { type ComparedRequest, type Comparison, compareOutcomes } from './compare-outcomes.ts';
import { type FinishedDryRun, runDry } from './dry-run-thread.ts';
import type { RowChanges } from './row-changes.ts';

export interface WhatIfOptions extends Pick<DryRunBoot, 'settings' | 'baseDirectory' | 'nodeId'> {
  readonly compileCache: string | null;
  /** Recorded code of users' plugins. */
  readonly code: () => readonly PluginCode[];
  /** The whole config of the workers. */
  readonly config: () => SnapshotDelta;
  readonly lookup: (call: Call) => Promise<CallResult>;
}

export interface WhatIfAnswer extends Comparison {
  /** Why not all requests were repeated; null: they were. */
  readonly ended: FinishedDryRun['ended'];
}

/** The dry run could not be made. One line for the client. */
export class DryRunFailed extends Error {}

/** Milliseconds for both dry runs. */
const maxTime = 10_000;
/** Dry runs that wait for another one, and for how long. */
const maxWaiting = 4;
const maxWait = 15_000;

/**
 * Compares what the config does to recorded requests with what a changed config would do to them. Both are dry runs, so that they leave
 * out the same things. One runs at a time.
 */
export class WhatIf {
  readonly #options: WhatIfOptions;
  readonly #queue = new FairQueue({ concurrency: 1, maxWaiting, maxWait });

  constructor(options: WhatIfOptions) {
    this.#options = options;
  }

  /**
   * `change`: determines the changes when it is the turn of this run. `caller`: whose runs wait together. Null: too many wait already.
   * Rejects with a `DryRunFailed`, and with the errors of `change`.
   */
  async compare(
    caller: string,
    change: () => Promise<RowChanges>,
    records: readonly KeptRecord[],
  ): Promise<WhatIfAnswer | null> {
    const answer = await this.#queue.run(caller, async () => this.#compare(await change(), records));
    return answer === overloaded ? null : answer;
  }

  async #compare(changes: RowChanges, records: readonly KeptRecord[]): Promise<WhatIfAnswer> {
    if (records.length === 0) return { ...compareOutcomes([]), ended: null };
    const config = this.#options.config();
    const inOrder = [...records].sort((a, b) => Date.parse(a.entry.at) - Date.parse(b.entry.at));
    const requests = inOrder.map(({ entry, raw }): DryRequest => {
      return { id: entry.id, raw: Buffer.from(raw).toString(), sentTo: null };
    });
    const end = performance.now() + maxTime;
    const before = await this.#run(config, requests, maxTime / 2, (call) => this.#options.lookup(call));
    const repeated = requests.slice(0, before.results.length).map((request, at): DryRequest => {
      return { ...request, sentTo: before.results[at]?.outcome?.sentTo ?? null };
    });
    const changed = changes.applyTo(config);
    const after = await this.#run(changed, repeated, end - performance.now(), (call) => this.#lookup(call, changes));
    const compared: ComparedRequest[] = [];
    for (const [at, result] of after.results.entries()) {
      compared.push({ entry: inOrder[at]!.entry, before: before.results[at]!, after: result });
    }
    return { ...compareOutcomes(compared), ended: before.ended ?? after.ended };
  }

  async #run(
    config: SnapshotDelta,
    requests: readonly DryRequest[],
    timeout: number,
    lookup: (call: Call) => Promise<CallResult>,
  ): Promise<FinishedDryRun> {
    const { settings, baseDirectory, nodeId, compileCache, code } = this.#options;
    const boot = { settings, baseDirectory, nodeId, code: code(), config: JSON.stringify(config), requests };
    const finished = await runDry({ boot, compileCache, lookup, timeout });
    if (finished.ended === 'failed') throw new DryRunFailed(finished.message);
    if (finished.stuck === 0) return finished;
    const row = config.upserts.plugins?.find(({ id }) => entityMark(id) === finished.stuck);
    const plugin = row === undefined ? null : String(row['name']);
    const stuck: DryResult = { outcome: null, undecided: { reason: stuckReason, plugin } };
    return { ...finished, results: [...finished.results, stuck].slice(0, requests.length) };
  }

  /** As the rows would be after the changes. */
  async #lookup(call: Call, changes: RowChanges): Promise<CallResult> {
    const result = await this.#options.lookup(call);
    if (!result.ok || call.method !== 'find') return result;
    const { version, rows } = result.value as Found;
    return { ok: true, value: { version, rows: changes.answer(call.question, rows) } satisfies Found };
  }
}

const stuckReason = 'The plugin did not return before the time for the dry run was over.';
