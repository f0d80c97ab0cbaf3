import type {
  Admission,
  CircuitChange,
  CircuitOptions,
  CircuitReason,
  CircuitState,
  Circuits,
} from '../../plugin-sdk/circuits.ts';
import { sharedClock } from '../util/time/clock.ts';
import type { KeyHash } from '../zones/key-hash.ts';
import { Content, Field } from '../zones/zone-layout.ts';
import type { ZoneTable } from '../zones/zone-table.ts';

/** Slots of a key. */
const Tag = { state: 1, trials: 2, present: 3, previous: 4 } as const;
/** Values of the slot with the state. */
const State = { state: Field.first, since: Field.second, until: Field.third, opens: Field.fourth } as const;
/** Values of the slot with the trials: those in progress, those that succeeded; failures in a row. */
const Trials = { underWay: Field.first, passed: Field.second, failures: Field.third } as const;
/** Values of a window: its number, and what was counted in it. */
const Window = { number: Field.first, calls: Field.second, failures: Field.third, slow: Field.fourth } as const;

const Code = { closed: 0, open: 1, halfOpen: 2, ramp: 3 } as const;

const yes: Admission = Object.freeze({ admitted: true, trial: false, change: null });
const no: Admission = Object.freeze({ admitted: false, trial: false, change: null });
const trial: Admission = Object.freeze({ admitted: true, trial: true, change: null });

/**
 * Trials without a report (their worker died) are abandoned after so many milliseconds, or after a pause if that is
 * longer.
 */
const trialTimeout = 10_000;
/** Fraction of a pause, so that the circuits of many nodes do not all try at the same time. */
const jitter = 0.1;

/**
 * Circuits in a zone. The window slides: the current one counts and, of the previous one, the part within the window
 * length. A circuit recovers by itself: an open one ends when its pause is over, trials that are never reported are
 * abandoned, and a ramp ends by the clock.
 */
export class ZoneCircuits implements Circuits {
  readonly #table: ZoneTable;
  readonly #hash: KeyHash;
  readonly #options: CircuitOptions;
  readonly #now: () => number;
  readonly #random: () => number;

  constructor(table: ZoneTable, options: CircuitOptions) {
    this.#table = table;
    table.holds(Content.circuits);
    this.#hash = table.hasher(options.namespace);
    this.#options = options;
    this.#now = options.now ?? sharedClock();
    this.#random = options.random ?? Math.random;
  }

  admit(key: string): Admission {
    const table = this.#table;
    table.lock(this.#hash, key);
    const state = table.find(Tag.state);
    const admission = state < 0 ? yes : this.#admit(state, this.#now());
    table.unlock();
    return admission;
  }

  #admit(state: number, now: number): Admission {
    const { values } = this.#table;
    switch (values[state + State.state]) {
      case Code.open:
        if (now < values[state + State.until]!) return no;
        this.#enter(state, Code.halfOpen, now);
        return this.#try(state, now, 'pause-over');
      case Code.halfOpen:
        return this.#try(state, now, null);
      case Code.ramp:
        return this.#admitInRamp(state, now);
      default:
        return yes;
    }
  }

  /** Takes one of the slots for trials. */
  #try(state: number, now: number, reason: CircuitReason | null): Admission {
    const { values } = this.#table;
    const slot = this.#claim(Tag.trials, now, Number.POSITIVE_INFINITY);
    if (slot < 0) {
      // Without this, no slot would be left to count trials, if open circuits held all of them.
      this.#close(state, now);
      return { admitted: true, trial: false, change: change('closed', reason ?? 'pause-over') };
    }
    const { trials, pause } = this.#options;
    if (now - values[state + State.since]! > Math.max(trialTimeout, pause)) {
      values[slot + Trials.underWay] = 0;
      values[state + State.since] = now;
    }
    if (values[slot + Trials.underWay]! + values[slot + Trials.passed]! >= trials) return no;
    values[slot + Trials.underWay]!++;
    return reason === null ? trial : { admitted: true, trial: true, change: change('half-open', reason) };
  }

  #admitInRamp(state: number, now: number): Admission {
    const { values } = this.#table;
    const gone = now - values[state + State.since]!;
    const { ramp } = this.#options;
    if (gone >= ramp) {
      this.#close(state, now);
      return { admitted: true, trial: false, change: change('closed', 'ramp-over') };
    }
    return this.#random() < Math.max(0.05, gone / ramp) ? yes : no;
  }

  report(key: string, result: 'success' | 'slow' | 'failure', isTrial: boolean): CircuitChange | null {
    const table = this.#table;
    table.lock(this.#hash, key);
    const changed = this.#report(result, isTrial, this.#now());
    table.unlock();
    return changed;
  }

  #report(result: 'success' | 'slow' | 'failure', isTrial: boolean, now: number): CircuitChange | null {
    const table = this.#table;
    const { values } = table;
    const state = this.#claim(Tag.state, now, Number.POSITIVE_INFINITY);
    if (state < 0) return null;
    const code = values[state + State.state]!;
    this.#keep(state, code, now);
    if (code === Code.open) return null;
    if (code === Code.halfOpen) return isTrial ? this.#evaluateTrial(state, result, now) : null;
    const reason = this.#count(result, now);
    if (reason === null) return null;
    return this.#open(state, reason, now);
  }

  #evaluateTrial(state: number, result: 'success' | 'slow' | 'failure', now: number): CircuitChange | null {
    const { values } = this.#table;
    const slot = this.#table.find(Tag.trials);
    if (slot < 0) return null;
    values[slot + Trials.underWay] = Math.max(0, values[slot + Trials.underWay]! - 1);
    const { trials, ramp, slowRatio } = this.#options;
    if (result === 'failure' || (result === 'slow' && slowRatio > 0)) return this.#open(state, 'trial-failed', now);
    values[slot + Trials.passed]!++;
    if (values[slot + Trials.passed]! < trials) return null;
    if (ramp > 0) {
      this.#enter(state, Code.ramp, now);
      return change('ramp', 'trials-passed');
    }
    this.#close(state, now);
    return change('closed', 'trials-passed');
  }

  /** Counts a call; returns a reason when the circuit opens. */
  #count(result: 'success' | 'slow' | 'failure', now: number): CircuitReason | null {
    const table = this.#table;
    const { values } = table;
    const { consecutive, window } = this.#options;
    if (consecutive > 0 && this.#inARow(result === 'failure', now) >= consecutive) return 'consecutive-failures';
    const number = Math.floor(now / window);
    const expiry = (number + 2) * window;
    const present = this.#claim(Tag.present, now, expiry);
    const previous = this.#claim(Tag.previous, now, expiry);
    if (present < 0 || previous < 0) return null;
    this.#advanceWindows(present, previous, number);
    values[present + Window.calls]!++;
    if (result === 'failure') values[present + Window.failures]!++;
    else if (result === 'slow') values[present + Window.slow]!++;
    return this.#evaluateWindow(present, previous, 1 - (now % window) / window);
  }

  #inARow(failed: boolean, now: number): number {
    const { values } = this.#table;
    let slot = this.#table.find(Tag.trials);
    if (slot < 0) {
      if (!failed) return 0;
      slot = this.#claim(Tag.trials, now, now + 2 * this.#options.window);
      if (slot < 0) return 0;
    }
    values[slot + Field.expiresAt] = now + 2 * this.#options.window;
    values[slot + Trials.failures] = failed ? values[slot + Trials.failures]! + 1 : 0;
    return values[slot + Trials.failures]!;
  }

  /** Advances the windows to the one with this number. */
  #advanceWindows(present: number, previous: number, number: number): void {
    const { values } = this.#table;
    const before = values[present + Window.number]!;
    if (before === number) return;
    const next = before === number - 1;
    for (const field of [Window.calls, Window.failures, Window.slow]) {
      values[previous + field] = next ? values[present + field]! : 0;
      values[present + field] = 0;
    }
    values[previous + Window.number] = number - 1;
    values[present + Window.number] = number;
  }

  /** `rest`: the fraction of the previous window that still counts. */
  #evaluateWindow(present: number, previous: number, rest: number): CircuitReason | null {
    const { values } = this.#table;
    const sum = (field: number): number => values[present + field]! + values[previous + field]! * rest;
    const { minCalls, errorRatio, slowRatio } = this.#options;
    const calls = sum(Window.calls);
    if (calls < minCalls) return null;
    if (errorRatio > 0 && sum(Window.failures) / calls >= errorRatio) return 'error-ratio';
    if (slowRatio > 0 && sum(Window.slow) / calls >= slowRatio) return 'slow-ratio';
    return null;
  }

  #open(state: number, reason: CircuitReason, now: number): CircuitChange {
    const { values } = this.#table;
    const { pause, pauseMax } = this.#options;
    const opens = values[state + State.opens]!;
    const length = Math.min(pauseMax, pause * 2 ** opens) * (1 + jitter * (this.#random() - 0.5));
    this.#enter(state, Code.open, now);
    values[state + State.opens] = Math.min(opens + 1, 30);
    values[state + State.until] = now + length;
    return { state: 'open', reason, pause: length };
  }

  #close(state: number, now: number): void {
    this.#enter(state, Code.closed, now);
    this.#table.values[state + State.opens] = 0;
  }

  /** A slot of the key, or -1. One without an expiry time would be reused at once. */
  #claim(tag: number, now: number, expiry: number): number {
    const slot = this.#table.claim(tag, now);
    if (slot < 0) return -1;
    this.#table.values[slot + Field.lastUsed] = now;
    this.#table.values[slot + Field.expiresAt] = expiry;
    return slot;
  }

  /** The earlier counts have led here; they say nothing about what follows. */
  #enter(state: number, code: number, now: number): void {
    const table = this.#table;
    const { values } = table;
    values[state + State.state] = code;
    values[state + State.since] = now;
    this.#keep(state, code, now);
    for (const tag of [Tag.trials, Tag.present, Tag.previous]) {
      const slot = table.find(tag);
      if (slot < 0) continue;
      if (tag === Tag.trials) values[slot + Field.expiresAt] = values[state + Field.expiresAt]!;
      for (let field: number = Field.first; field <= Field.fourth; field++) values[slot + field] = 0;
    }
  }

  /** Only circuits that are closed and long unused are evicted. */
  #keep(state: number, code: number, now: number): void {
    const { values } = this.#table;
    values[state + Field.lastUsed] = now;
    values[state + Field.expiresAt] = code === Code.closed ? now + 2 * this.#options.window : Number.POSITIVE_INFINITY;
  }

  release(key: string): void {
    const table = this.#table;
    table.lock(this.#hash, key);
    const slot = table.find(Tag.trials);
    if (slot >= 0) table.values[slot + Trials.underWay] = Math.max(0, table.values[slot + Trials.underWay]! - 1);
    table.unlock();
  }
}

function change(state: CircuitState, reason: CircuitReason): CircuitChange {
  return { state, reason, pause: 0 };
}
