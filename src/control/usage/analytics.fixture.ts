import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CountedRequest, UsageRecorder } from '../../data/usage/usage-recorder.ts';
import type { ToWorker } from '../../shared/messages/messages.ts';
import { createUsageMemory } from '../../shared/usage/usage-memory.ts';
import { createStore } from '../store/create-store.ts';
import { type Store, StoreError } from '../store/store.ts';
import { Analytics, type AnalyticsOptions } from './analytics.ts';

export const minute = 60_000;
export const hour = 3_600_000;
export const day = 86_400_000;

/** A worker without a thread: it processes its messages when the test says so. */
export class TestWorker {
  recorder: UsageRecorder;
  alive = true;
  readonly #memory: SharedArrayBuffer;
  readonly #inbox: ToWorker[] = [];

  constructor(memory: SharedArrayBuffer) {
    this.#memory = memory;
    this.recorder = new UsageRecorder(memory);
  }

  post(message: ToWorker): void {
    this.#inbox.push(message);
  }

  /** Answers what it was sent; `answer` carries the answers to the control plane. */
  listen(answer: (serial: number, names: ReturnType<UsageRecorder['switchTo']>) => void): void {
    for (const message of this.#inbox.splice(0)) {
      if (message.type === 'usage-switch') answer(message.serial, this.recorder.switchTo(message.half));
    }
  }

  /** Another worker replaces it. */
  replace(): void {
    this.#inbox.splice(0);
    this.recorder = new UsageRecorder(this.#memory);
  }
}

export interface TestNode {
  readonly analytics: Analytics;
  readonly workers: readonly TestWorker[];
  /** The time, as the node sees it. */
  now: number;
  /** Workers that do not answer. */
  readonly stuck: Set<number>;
  readonly warnings: string[];
  /** Ends the workers and the node. */
  stop(): Promise<void>;
  /** Counts a request that ends now. */
  count(worker: number, request: (ended: number) => CountedRequest, times?: number): void;
}

export interface TestNodeOptions {
  readonly store: AnalyticsOptions['store'];
  readonly now: number;
  readonly node?: string;
  readonly workers?: number;
  readonly settings?: Partial<AnalyticsOptions['settings']>;
  /** Shorter where a worker is not going to answer. */
  readonly readTimeout?: number;
  readonly maxRows?: number;
}

/** Analytics of a node with workers that are no threads, and a clock that the test sets. */
export function startTestNode(options: TestNodeOptions): TestNode {
  const { store, now, node = 'n1', workers = 1, settings = {}, readTimeout = 5000, maxRows } = options;
  const all = {
    enabled: true,
    maxSeries: 100,
    retention: { minute: 2 * day, hour: 30 * day, day: 400 * day },
    ...settings,
  };
  const memories = Array.from({ length: workers }, () => createUsageMemory(all.maxSeries));
  const threads = memories.map((memory) => new TestWorker(memory));
  const warnings: string[] = [];
  const stuck = new Set<number>();
  const clock = { now };
  const analytics: Analytics = new Analytics({
    settings: all,
    store,
    node,
    memories,
    running: () => threads.flatMap(({ alive }, number) => (alive ? [number] : [])),
    post: (number, message) => {
      const worker = threads[number];
      worker?.post(message);
      if (stuck.has(number)) return;
      setImmediate(() => worker?.listen((serial, names) => analytics.turned(number, serial, names)));
    },
    log: {
      warn: (message) => void warnings.push(message),
      error: (message, fields) => void warnings.push(`${message}: ${String(fields?.['err'])}`),
    },
    now: () => clock.now,
    readTimeout,
    interval: 20,
    ...(maxRows === undefined ? {} : { maxRows }),
  });
  return {
    analytics,
    workers: threads,
    stuck,
    warnings,
    get now() {
      return clock.now;
    },
    set now(instant) {
      clock.now = instant;
    },
    async stop() {
      for (const number of threads.keys()) analytics.ended(number);
      await analytics.stop();
    },
    count(worker, request, times = 1) {
      for (let at = 0; at < times; at++) threads[worker]?.recorder.record(request(clock.now), 10, 20);
    },
  };
}

export interface TestStore extends AsyncDisposable {
  readonly store: Store;
  /** The store again, as after a restart. */
  reopen(): Promise<Store>;
}

export async function openTestStore(): Promise<TestStore> {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-analytics-'));
  const opened: Store[] = [];
  const open = async (): Promise<Store> => {
    const store = await createStore({ kind: 'sqlite', file: join(folder, 'store.sqlite'), definitions: [] });
    opened.push(store);
    await store.migrate();
    return store;
  };
  return {
    store: await open(),
    reopen: open,
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((store) => store.close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Fault = 'none' | 'unavailable' | 'answer lost' | 'refuses';

/** A store that can be unavailable, or lose the answer to a write. */
export function unreliable(store: Store): Store & { fault: Fault } {
  const unavailable = (): StoreError =>
    new StoreError({ kind: 'unavailable' }, { message: 'the store does not answer' });
  const faulty = {
    ...store,
    fault: 'none' as Fault,
    putUsage: async (...args: Parameters<Store['putUsage']>) => {
      if (faulty.fault === 'unavailable') throw unavailable();
      if (faulty.fault === 'refuses') throw new Error('a row that no database takes');
      await store.putUsage(...args);
      if (faulty.fault === 'answer lost') throw unavailable();
    },
    readUsage: async (...args: Parameters<Store['readUsage']>) => {
      if (faulty.fault === 'unavailable') throw unavailable();
      return await store.readUsage(...args);
    },
  };
  return faulty;
}
