import { type FromWorker, limitCounts } from '../../shared/messages/messages.ts';

/** Interval at which a worker reports its plugins' counts, in milliseconds. */
const interval = 500;
/** Maximum names of one worker: a plugin must not create names from what clients send. */
const maxNames = 10_000;

/** Collects the counts of a worker's plugins, so that a count during a request is one addition. */
export class WorkerCounts {
  readonly #post: (message: FromWorker) => void;
  readonly #counts = new Map<string, [plugin: string, name: string, by: number, instance: string]>();
  #timer: NodeJS.Timeout | null = null;

  constructor(post: (message: FromWorker) => void) {
    this.#post = post;
  }

  add(plugin: string, name: string, by: number, instance: string): void {
    const counted = limitCounts.has(name) ? instance : '';
    const key = `${plugin}.${name}.${counted}`;
    const count = this.#counts.get(key);
    if (count !== undefined) count[2] += by;
    else if (this.#counts.size < maxNames) this.#counts.set(key, [plugin, name, by, counted]);
    this.#timer ??= setTimeout(() => this.flush(), interval).unref();
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const counts = [...this.#counts.values()].filter(([, , by]) => by !== 0);
    if (counts.length > 0) this.#post({ type: 'counts', counts: counts.map((count) => [...count] as const) });
    for (const count of counts) count[2] = 0;
  }
}
