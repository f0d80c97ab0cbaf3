import type { Lease, LeaseRequest, LeaseWindow } from '../lease.ts';

/** The decision of a store, which then sets its counters to `used`. */
export interface GrantedLease extends Lease {
  readonly taken: readonly number[];
}

/**
 * What a request gets, from the counts of its windows.
 *
 * @param used For each window, what was taken in it before.
 * @param before For each window, what was taken in the previous one; 0 unless it slides.
 */
export function grantLease(request: LeaseRequest, used: readonly number[], before: readonly number[]): GrantedLease {
  const { windows, wanted, unit, force, share = 0 } = request;
  const rooms = windows.map(
    ({ limit, previous }, at) => limit - (used[at] ?? 0) - (before[at] ?? 0) * (previous?.share ?? 0),
  );
  const granted = force ? wanted : grantedOf(windows, rooms, wanted, unit);
  const taken = windows.map(({ held = 0, ahead = 0 }, at) => {
    if (granted < 0) return Math.max(granted, -(used[at] ?? 0));
    const exact = Math.max(0, granted - held);
    // What it holds afterwards is at most the share.
    const free = Math.floor(((rooms[at] ?? 0) - exact) * share) - Math.max(0, held - granted);
    return exact + Math.max(0, Math.min(ahead, free));
  });
  return { granted, used: taken.map((units, at) => (used[at] ?? 0) + units), before, taken };
}

/** True: the request changes no counter, whatever the counts are. */
export function onlyReads({ wanted, windows, share = 0 }: LeaseRequest): boolean {
  return wanted === 0 && (share === 0 || windows.every(({ ahead = 0 }) => ahead === 0));
}

function grantedOf(windows: readonly LeaseWindow[], rooms: readonly number[], wanted: number, unit: number): number {
  let room = wanted;
  for (let at = 0; at < rooms.length; at++) room = Math.min(room, rooms[at]! + (windows[at]!.held ?? 0));
  return Math.max(0, Math.floor(room / unit) * unit);
}
