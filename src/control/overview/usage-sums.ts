import { bucketCount, sketchOf } from '../../shared/usage/latency-sketch.ts';
import { statusClass } from '../../shared/usage/series-key.ts';
import type { Latencies, Usage } from '../../shared/usage/usage.ts';
import type { UsageKey } from '../store/usage-store.ts';
import type { Dimension, UsageGroup } from '../usage/usage-reader.ts';

/** Sums of usage by some fields. Adding a row changes numbers in place, which is much faster than merging sketches. */
export class UsageSums {
  readonly #by: readonly Dimension[];
  readonly #sums = new Map<string, UsageSum>();

  constructor(by: readonly Dimension[]) {
    this.#by = by;
  }

  add(key: UsageKey, usage: Usage): void {
    let id = '';
    for (const dimension of this.#by) id += `${key[dimension]}\0`;
    let sum = this.#sums.get(id);
    if (sum === undefined) {
      sum = new UsageSum(id, key);
      this.#sums.set(id, sum);
    }
    sum.add(key, usage);
  }

  groups(): readonly UsageGroup[] {
    return Array.from(this.#sums.values(), (sum) => sum.group());
  }
}

class UsageSum {
  readonly #id: string;
  readonly #key: UsageKey;
  readonly #latency = new LatencySum();
  readonly #upstream = new LatencySum();
  #requests = 0;
  #bytesIn = 0;
  #bytesOut = 0;
  #clientErrors = 0;
  #serverErrors = 0;

  constructor(id: string, key: UsageKey) {
    this.#id = id;
    this.#key = key;
  }

  add({ status }: UsageKey, { requests, bytesIn, bytesOut, latency, upstream }: Usage): void {
    this.#requests += requests;
    this.#bytesIn += bytesIn;
    this.#bytesOut += bytesOut;
    this.#latency.add(latency);
    this.#upstream.add(upstream);
    const kind = statusClass(status);
    if (kind === 4) this.#clientErrors += requests;
    if (kind === 5) this.#serverErrors += requests;
  }

  group(): UsageGroup {
    return {
      ...{ start: 0, id: this.#id, key: this.#key },
      usage: {
        requests: this.#requests,
        bytesIn: this.#bytesIn,
        bytesOut: this.#bytesOut,
        latency: this.#latency.latencies(),
        upstream: this.#upstream.latencies(),
      },
      clientErrors: this.#clientErrors,
      serverErrors: this.#serverErrors,
    };
  }
}

class LatencySum {
  readonly #counts = new Float64Array(bucketCount);
  #sum = 0;
  #greatest = 0;

  add({ sum, greatest, sketch }: Latencies): void {
    this.#sum += sum;
    if (greatest > this.#greatest) this.#greatest = greatest;
    for (let at = 0; at < sketch.length; at += 2) this.#counts[sketch[at]!]! += sketch[at + 1]!;
  }

  latencies(): Latencies {
    return { sum: this.#sum, greatest: this.#greatest, sketch: sketchOf(this.#counts, 0) };
  }
}
