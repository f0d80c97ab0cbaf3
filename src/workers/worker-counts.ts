import type { FromWorker } from './messages.ts';

/** How often a worker tells what its plugins counted, in milliseconds. */
const interval = 500;
/** Names of one worker at most: a plugin must not make names of what clients send. */
const mostNames = 10_000;

/** Gathers what the plugins of a worker count, so that a count on the way of a request is an addition. */
export class WorkerCounts {
  readonly #post: (message: FromWorker) => void;
  readonly #counts = new Map<string, [string, string, number]>();
  #timer: NodeJS.Timeout | null = null;

  constructor(post: (message: FromWorker) => void) {
    this.#post = post;
  }

  add(plugin: string, name: string, by: number): void {
    const key = `${plugin}.${name}`;
    const count = this.#counts.get(key);
    if (count !== undefined) count[2] += by;
    else if (this.#counts.size < mostNames) this.#counts.set(key, [plugin, name, by]);
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
