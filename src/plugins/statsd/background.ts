import { hostname } from 'node:os';
import type { BackgroundTools, ConfiguredInstance, PluginBackground } from '../../plugin-sdk/index.ts';
import { type LineTarget, openLineTarget } from './line-target.ts';
import type { StatsdConfig } from './schema.ts';
import { usageLines } from './usage-lines.ts';

/** Milliseconds until the first report of the shared memory's usage, and between reports. */
const firstPause = 1_000;
const pause = 60_000;

/** Reports the usage of the shared memory, which belongs to no request: once for the node, not by each worker. */
export function background(tools: BackgroundTools): PluginBackground {
  const running = new Map<string, Teller>();
  const collect = collectOnce(tools);

  const end = (id: string): void => {
    running.get(id)?.close();
    running.delete(id);
  };

  return {
    configured(instances) {
      const wanted = new Set(instances.map(({ id }) => id));
      for (const id of [...running.keys()]) if (!wanted.has(id)) end(id);
      for (const { id, config } of instances as readonly ConfiguredInstance<StatsdConfig>[]) {
        if (running.get(id)?.config === config) continue;
        end(id);
        if (config.metrics?.some(({ name }) => name === 'shdict_usage'))
          running.set(id, new Teller(config, tools, collect));
      }
    },
    handle: async () => null,
    stop() {
      for (const id of [...running.keys()]) end(id);
    },
  };
}

type Collect = BackgroundTools['metrics'];

/** Instances that report at the same time, as all do after a start, share one collection. */
function collectOnce(tools: BackgroundTools): Collect {
  let collecting: ReturnType<Collect> | null = null;
  return () => {
    collecting ??= tools.metrics().finally(() => {
      collecting = null;
    });
    return collecting;
  };
}

class Teller {
  readonly config: StatsdConfig;
  readonly #tools: BackgroundTools;
  readonly #collect: Collect;
  readonly #target: LineTarget;
  #timer: NodeJS.Timeout;

  constructor(config: StatsdConfig, tools: BackgroundTools, collect: Collect) {
    this.config = config;
    this.#tools = tools;
    this.#collect = collect;
    this.#target = openLineTarget(config, tools);
    this.#timer = this.#wait(firstPause);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#target.close();
  }

  #wait(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => void this.#report(), milliseconds).unref();
  }

  async #report(): Promise<void> {
    this.#timer = this.#wait(pause);
    try {
      const families = await this.#collect();
      if (this.#tools.signal.aborted) return;
      for (const line of usageLines(this.config, hostname(), families)) this.#target.add(line);
      this.#target.endGroup();
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown';
      this.#tools.log.warn('the usage of shared memory could not be reported', { reason });
    }
  }
}
