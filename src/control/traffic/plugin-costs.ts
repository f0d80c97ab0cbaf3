import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KeptRecord } from './traffic-ring.ts';

/** Time that plugins took, in microseconds. */
export interface Cost {
  readonly p50: number;
  readonly p99: number;
}

/** What an instance cost. */
export interface InstanceCost extends Cost {
  readonly id: string;
  readonly samples: number;
}

/** What a plugin cost in a request, all its instances together. */
export interface PluginCost extends Cost {
  readonly plugin: string;
  /** Runs: an instance in a request, all phases together. */
  readonly samples: number;
  /** By phase, with Kong's names. */
  readonly phases: Readonly<Record<string, Cost>>;
  readonly instances: readonly InstanceCost[];
}

export interface PluginCosts {
  /** By name. */
  readonly data: readonly PluginCost[];
  /** Recorded requests with a timeline, with or without plugins. */
  readonly requests: number;
  /** When the first and the last of them began: ISO 8601; null: there is none. */
  readonly from: string | null;
  readonly to: string | null;
}

/** What an instance took in one request. */
interface Run {
  readonly plugin: string;
  readonly instance: string;
  /** Microseconds. */
  readonly phases: readonly (readonly [phase: string, time: number])[];
}

/** Maximum requests, the newest, and bytes of their explanations. */
const maxRequests = 2_000;
const maxBytes = 33_554_432;
/** Bytes that are parsed before others have their turn. */
const bytesPerTurn = 262_144;

/** Sums up what plugins took, from the timelines of records. A record is parsed once. */
export class PluginCostReader {
  readonly #known = new WeakMap<KeptRecord, readonly Run[] | null>();
  #current: Promise<PluginCosts> | null = null;

  /** `records`: newest first. Who asks meanwhile gets the same answer. */
  read(records: Iterable<KeptRecord>): Promise<PluginCosts> {
    this.#current ??= this.#sum([...newest(records)]).finally(() => {
      this.#current = null;
    });
    return this.#current;
  }

  async #sum(records: readonly KeptRecord[]): Promise<PluginCosts> {
    const runs: Run[] = [];
    const traced: KeptRecord[] = [];
    let parsed = 0;
    for (const record of records) {
      let found = this.#known.get(record);
      if (found === undefined) {
        found = runsOf(record);
        this.#known.set(record, found);
        parsed += record.explanation.byteLength;
      }
      if (found === null) continue;
      traced.push(record);
      runs.push(...found);
      if (parsed < bytesPerTurn) continue;
      parsed = 0;
      await nextTurn();
    }
    const times = traced.map(({ entry }) => entry.at).sort();
    return { data: costsOf(runs), requests: traced.length, from: times[0] ?? null, to: times.at(-1) ?? null };
  }
}

function* newest(records: Iterable<KeptRecord>): Generator<KeptRecord> {
  let count = 0;
  let bytes = 0;
  for (const record of records) {
    bytes += record.explanation.byteLength;
    if (++count > maxRequests || bytes > maxBytes) return;
    yield record;
  }
}

interface ShownPlugin {
  readonly name: string;
  readonly id: string;
  readonly phases: readonly { readonly phase: string; readonly ms: number | null }[];
}

/** Null: the record has no timeline, or it was too long. */
function runsOf({ explanation }: KeptRecord): readonly Run[] | null {
  const { buffer, byteOffset, byteLength } = explanation;
  const { plugins } = JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString()) as {
    readonly plugins?: readonly ShownPlugin[] | null;
  };
  if (plugins === undefined || plugins === null) return null;
  return plugins.flatMap(({ name, id, phases }) => {
    const ended = phases.flatMap(({ phase, ms }) => (ms === null ? [] : [[phase, Math.round(ms * 1000)] as const]));
    return ended.length === 0 ? [] : [{ plugin: name, instance: id, phases: ended }];
  });
}

function costsOf(runs: readonly Run[]): readonly PluginCost[] {
  return [...Map.groupBy(runs, ({ plugin }) => plugin)]
    .map(([plugin, all]) => ({
      plugin,
      samples: all.length,
      ...costOf(all.map(totalOf)),
      phases: phaseCosts(all),
      instances: [...Map.groupBy(all, ({ instance }) => instance)]
        .map(([id, own]) => ({ id, samples: own.length, ...costOf(own.map(totalOf)) }))
        .sort((a, b) => (a.id < b.id ? -1 : 1)),
    }))
    .sort((a, b) => (a.plugin < b.plugin ? -1 : 1));
}

function phaseCosts(runs: readonly Run[]): Readonly<Record<string, Cost>> {
  const times = Map.groupBy(
    runs.flatMap(({ phases }) => phases),
    ([phase]) => phase,
  );
  return Object.fromEntries([...times].map(([phase, list]) => [phase, costOf(list.map(([, time]) => time))]));
}

function totalOf({ phases }: Run): number {
  return phases.reduce((sum, [, time]) => sum + time, 0);
}

function costOf(times: readonly number[]): Cost {
  const sorted = times.toSorted((a, b) => a - b);
  return { p50: percentileOf(sorted, 50), p99: percentileOf(sorted, 99) };
}

/** Of at least one number, in ascending order: the nearest rank. */
function percentileOf(sorted: readonly number[], percent: number): number {
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
}
