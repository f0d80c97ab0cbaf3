import type { ServiceRecord } from './client/record-types.ts';
import type { ResolvedAddress } from './types.ts';

/** Maximum addresses of one name; further ones are ignored. */
export const maxAddresses = 4_000;

/** A service record's target with its addresses. */
export interface ServiceTarget {
  readonly record: ServiceRecord;
  readonly ips: readonly string[];
}

/** The records in use: those of the lowest priority (as in Kong; RFC 2782 keeps the others for when these fail). */
export function usableServices(records: readonly ServiceRecord[]): readonly ServiceRecord[] {
  // A target `.` says that there is no such service.
  const offered = records.filter(({ target }) => target !== '');
  const lowest = Math.min(...offered.map(({ priority }) => priority));
  const unique = new Map(
    offered.filter(({ priority }) => priority === lowest).map((record) => [`${record.target} ${record.port}`, record]),
  );
  return [...unique.values()].slice(0, maxAddresses);
}

/** Addresses with port and weight. A weight of 0 counts as 1; a port of 0 means the caller's own. */
export function serviceAddresses(targets: readonly ServiceTarget[]): readonly ResolvedAddress[] {
  const scale = weightScale(targets);
  return targets.flatMap(({ record, ips }) =>
    ips.map((ip) => ({
      ip,
      port: record.port === 0 ? null : record.port,
      weight: Math.max(1, Math.round((Math.max(1, record.weight) * scale) / ips.length)),
      name: record.target,
    })),
  );
}

/** Two addresses of one target share its weight: all weights are multiplied so that the shares are integers. */
function weightScale(targets: readonly ServiceTarget[]): number {
  let scale = 1;
  for (const { ips } of targets) {
    const next = leastCommonMultiple(scale, ips.length);
    if (next > 60) return 60;
    scale = next;
  }
  return scale;
}

function leastCommonMultiple(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y !== 0) [x, y] = [y, x % y];
  return (a * b) / x;
}
