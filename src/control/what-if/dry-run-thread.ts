import type { Call, CallResult } from '../../shared/lookup/calls.ts';
import type { DryResult, DryRunBoot, FromDryRun, ToDryRun } from '../../shared/messages/dry-run.ts';
import { createVitals, Vital, workerVitals } from '../../shared/zones/worker-vitals.ts';
import { startBoundedThread } from '../supervisor/bounded-thread.ts';

const entry = new URL('../../data/dry-run/dry-run-main.ts', import.meta.url);

/** Lookups of one run. */
const maxLookups = 20_000;

export interface DryRunRequest {
  readonly boot: Omit<DryRunBoot, 'vitals'>;
  readonly compileCache: string | null;
  /** Answers the lookups of plugins. */
  readonly lookup: (call: Call) => Promise<CallResult>;
  /** Milliseconds. */
  readonly timeout: number;
}

export interface FinishedDryRun {
  /** Of the first requests; the others were not repeated. */
  readonly results: readonly DryResult[];
  /** Why not all were repeated; null: they were. */
  readonly ended: 'timeout' | 'memory' | 'failed' | null;
  /** One line, for `failed`. */
  readonly message: string;
  /** `entityMark` of the plugin instance whose call did not return before the timeout; 0: none. */
  readonly stuck: number;
}

/** Repeats requests in a thread of its own, which is gone afterwards. Never rejects. */
export function runDry({ boot, compileCache, lookup, timeout }: DryRunRequest): Promise<FinishedDryRun> {
  const vitals = createVitals(1);
  const results: DryResult[] = [];
  let lookups = 0;
  return new Promise((resolve) => {
    const end = (ended: FinishedDryRun['ended'], message = '', stuck = 0): void => {
      clearTimeout(timer);
      resolve({ results: results.slice(0, boot.requests.length), ended, message, stuck });
      bounded.end();
    };
    const bounded = startBoundedThread(entry, {
      name: 'sluicegate-dry-run',
      compileCache,
      workerData: { ...boot, vitals } satisfies DryRunBoot,
      memoryFull: () => end('memory'),
    });
    const { thread } = bounded;
    const timer = setTimeout(() => {
      const row = workerVitals(vitals, 0);
      const stuck = row[Vital.phase] === 0 ? 0 : (row[Vital.instance] ?? 0);
      end('timeout', '', stuck);
    }, timeout);
    const answer = async (id: number, call: Call): Promise<void> => {
      const result: CallResult =
        ++lookups > maxLookups || call.method !== 'find'
          ? { ok: false, failure: { kind: 'unavailable', message: 'a dry run does not do that', fields: {} } }
          : await lookup(call);
      thread.postMessage({ type: 'answer', id, result } satisfies ToDryRun);
    };
    thread.on('message', (message: FromDryRun) => {
      if (message.type === 'result') results.push(message.result);
      else if (message.type === 'call') void answer(message.id, message.call).catch(() => {});
      else if (message.type === 'done') end(null);
      else end('failed', message.message);
    });
    thread.on('error', (error) => {
      const code = (error as NodeJS.ErrnoException).code;
      end(code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'failed', String(error));
    });
    thread.on('exit', () => end('failed', 'its thread ended'));
  });
}
