import { hash } from 'node:crypto';
import { PluginPhase } from './worker-vitals.ts';

/*
 * What the plugins of each worker did: failures and sampled time by phase, and calls that exceeded a time budget. One row for each
 * worker, which outlives it, and one for the control plane (background parts, routes of the Admin API). A row has places for plugins, by
 * the mark of their names. Only the thread of a row writes it, so adding needs no atomic operation. Counts only grow.
 */

/** Where a plugin's code ran. `outside`: in a timer, a listener or a promise that nobody awaits. */
export const MeterPhase = Object.freeze({
  outside: 0,
  ...PluginPhase,
  drain: 15,
  background: 16,
  adminRoutes: 17,
});

export type MeterPhaseName = keyof typeof MeterPhase;

const phases = 20;
const Field = Object.freeze({ mark: 0, skipped: 1, refused: 2, late: 3, failures: 4, samples: 24, time: 44 });
const fields = 64;
/** Plugins beyond share the last place. */
const places = 256;
const overflow = -1;
const rowFields = fields * places;
const rowBytes = rowFields * Float64Array.BYTES_PER_ELEMENT;

/** Shared memory for `workers` workers and the control plane, all 0. */
export function createPluginMeter(workers: number): SharedArrayBuffer {
  return new SharedArrayBuffer((workers + 1) * rowBytes);
}

/** What one thread counts of one plugin. */
export class PluginMeter {
  readonly #fields: Float64Array;

  constructor(row: Float64Array) {
    this.#fields = row;
  }

  /** @param phase A `MeterPhase`. */
  failed(phase: number): void {
    this.#fields[Field.failures + phase]!++;
  }

  /** One of the calls that are sampled took so many milliseconds. */
  sampled(phase: number, time: number): void {
    this.#fields[Field.samples + phase]!++;
    this.#fields[Field.time + phase]! += time;
  }

  /** A call exceeded its time budget: the request continued without it, was refused, or it returned late but at once. */
  exceeded(outcome: 'skipped' | 'refused' | 'late'): void {
    this.#fields[Field[outcome]]!++;
  }
}

/** The meters of one worker; `worker` is its number, or the number of workers for the control plane. */
export class PluginMeters {
  readonly #row: Float64Array;
  readonly #known = new Map<string, PluginMeter>();

  constructor(memory: SharedArrayBuffer, worker: number) {
    this.#row = new Float64Array(memory, worker * rowBytes, rowFields);
  }

  of(plugin: string): PluginMeter {
    let meter = this.#known.get(plugin);
    if (meter === undefined) {
      meter = new PluginMeter(placeOf(this.#row, plugin, true) ?? new Float64Array(fields));
      this.#known.set(plugin, meter);
    }
    return meter;
  }
}

/** The control plane's. */
export function controlPlaneMeters(memory: SharedArrayBuffer): PluginMeters {
  return new PluginMeters(memory, memory.byteLength / rowBytes - 1);
}

/** A meter in memory of its own, where nobody reads it: for tests and dry runs. */
export function privateMeter(): PluginMeter {
  return new PluginMeter(new Float64Array(fields));
}

/** What is known of a plugin, in one thread or in all. */
export interface PluginMeterTotals {
  /** By phase; phases without any are left out. */
  readonly failures: ReadonlyMap<MeterPhaseName, number>;
  /** Calls that were sampled, and their milliseconds. */
  readonly samples: ReadonlyMap<MeterPhaseName, { readonly count: number; readonly time: number }>;
  readonly skipped: number;
  readonly refused: number;
  readonly late: number;
}

/** Sums over all threads of the node, since its start. */
export function readPluginMeter(memory: SharedArrayBuffer, plugin: string): PluginMeterTotals {
  const sums = new Float64Array(fields);
  for (const row of rowsOf(memory)) {
    const place = placeOf(row, plugin, false);
    if (place !== null) for (let at = Field.skipped; at < fields; at++) sums[at]! += place[at]!;
  }
  const failures = new Map<MeterPhaseName, number>();
  const samples = new Map<MeterPhaseName, { count: number; time: number }>();
  for (const [name, phase] of Object.entries(MeterPhase) as [MeterPhaseName, number][]) {
    const failed = sums[Field.failures + phase]!;
    if (failed > 0) failures.set(name, failed);
    const count = sums[Field.samples + phase]!;
    if (count > 0) samples.set(name, { count, time: sums[Field.time + phase]! });
  }
  const { [Field.skipped]: skipped = 0, [Field.refused]: refused = 0, [Field.late]: late = 0 } = sums;
  return { failures, samples, skipped, refused, late };
}

/**
 * Failures of a plugin in each worker since the start of the node, by worker number: exceptions and rejections in all phases and outside
 * of them, and calls over budget. A worker that replaces another continues its count.
 */
export function pluginFailuresByWorker(memory: SharedArrayBuffer, plugin: string): readonly number[] {
  return rowsOf(memory)
    .slice(0, -1)
    .map((row) => {
      const place = placeOf(row, plugin, false);
      if (place === null) return 0;
      const failed = place.subarray(Field.failures, Field.failures + phases).reduce((sum, count) => sum + count, 0);
      return failed + place[Field.skipped]! + place[Field.refused]!;
    });
}

function rowsOf(memory: SharedArrayBuffer): readonly Float64Array[] {
  return Array.from(
    { length: memory.byteLength / rowBytes },
    (_, at) => new Float64Array(memory, at * rowBytes, rowFields),
  );
}

/** Open addressing. Null: the plugin has no place and none is made. */
function placeOf(row: Float64Array, plugin: string, make: boolean): Float64Array | null {
  const mark = nameMark(plugin);
  for (let step = 0; step < places - 1; step++) {
    const at = ((mark + step) % (places - 1)) * fields;
    if (row[at] === 0) {
      if (!make) return null;
      row[at] = mark;
    }
    if (row[at] === mark) return row.subarray(at, at + fields);
  }
  if (!make) return null;
  const last = row.subarray((places - 1) * fields);
  last[Field.mark] = overflow;
  return last;
}

/** 48 bits, never 0. */
function nameMark(plugin: string): number {
  return Number.parseInt(hash('sha1', plugin, 'hex').slice(0, 12), 16) || 1;
}
