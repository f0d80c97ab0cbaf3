import type { AddressZone } from '../zones/address-zone.ts';
import type { CheckLimits } from './health-config.ts';
import { type Counter, counted, countOf, healthWord, isHealthyWord } from './health-word.ts';

/** A report made an address healthy or unhealthy. Of all threads, the one that reported last gets it, once. */
export interface Flip {
  readonly healthy: boolean;
  /** `3 TCP failures (limit 3)`. */
  readonly reason: string;
}

/** The subject of a report: an address of an upstream, by their slots in the zone. */
export interface ReportTarget {
  readonly zone: AddressZone;
  readonly slot: number;
  readonly upstreamSlot: number;
}

/**
 * Kong's rules. Active and passive reports share the counters, each with their own limits. A limit of 0 disables its
 * counter: the report is ignored, so it does not clear the others either. A success clears all failures, a failure the
 * successes. Null: nothing has flipped.
 */
export function reportSuccess(target: ReportTarget, limits: CheckLimits): Flip | null {
  if (limits.successes === 0) return null;
  const { zone, slot } = target;
  for (;;) {
    const before = zone.healthWord(slot);
    // Most reports: healthy, and nothing to clear.
    if (before === 0 || slot === 0) return null;
    if (isHealthyWord(before)) {
      if (zone.replaceHealthWord(slot, before, healthWord(true))) return null;
      continue;
    }
    const after = counted(before, 'successes');
    if (countOf(after, 'successes') < limits.successes) {
      if (zone.replaceHealthWord(slot, before, after)) return null;
    } else if (zone.replaceHealthWord(slot, before, healthWord(true))) {
      return flipped(target, true, 'successes', limits.successes);
    }
  }
}

/** Statuses in neither list are ignored. */
export function reportHttpStatus(target: ReportTarget, limits: CheckLimits, status: number): Flip | null {
  if (limits.healthyStatuses.has(status)) return reportSuccess(target, limits);
  if (limits.unhealthyStatuses.has(status)) return reportFailure(target, limits, 'httpFailures');
  return null;
}

/** A malformed response counts as a failure. */
export function reportHttpFailure(target: ReportTarget, limits: CheckLimits): Flip | null {
  return reportFailure(target, limits, 'httpFailures');
}

export function reportTcpFailure(target: ReportTarget, limits: CheckLimits): Flip | null {
  return reportFailure(target, limits, 'tcpFailures');
}

export function reportTimeout(target: ReportTarget, limits: CheckLimits): Flip | null {
  return reportFailure(target, limits, 'timeouts');
}

function reportFailure(target: ReportTarget, limits: CheckLimits, counter: FailureCounter): Flip | null {
  const limit = limits[counter];
  if (limit === 0) return null;
  const { zone, slot } = target;
  if (slot === 0) return null;
  for (;;) {
    const before = zone.healthWord(slot);
    if (!isHealthyWord(before)) {
      if (before === healthWord(false) || zone.replaceHealthWord(slot, before, healthWord(false))) return null;
      continue;
    }
    const after = counted(before, counter);
    if (countOf(after, counter) < limit) {
      if (zone.replaceHealthWord(slot, before, after)) return null;
    } else if (zone.replaceHealthWord(slot, before, healthWord(false))) {
      return flipped(target, false, counter, limit);
    }
  }
}

type FailureCounter = Exclude<Counter, 'successes'>;

const names: Readonly<Record<Counter, string>> = {
  successes: 'successes',
  httpFailures: 'HTTP failures',
  tcpFailures: 'TCP failures',
  timeouts: 'time-outs',
};

function flipped({ zone, slot, upstreamSlot }: ReportTarget, healthy: boolean, counter: Counter, limit: number): Flip {
  if (healthy) zone.markAvailable(slot);
  zone.changed(upstreamSlot);
  return { healthy, reason: `${limit} ${names[counter]} (limit ${limit})` };
}
