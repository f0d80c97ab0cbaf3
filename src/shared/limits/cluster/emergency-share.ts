import type { WindowPeriod } from '../../../plugin-sdk/limits.ts';
import { Field } from '../../zones/zone-layout.ts';
import type { ZoneTable } from '../../zones/zone-table.ts';
import { shareOfPrevious, windowAt } from '../window-counts.ts';
import { ShareField, shareTag, WindowField, windowTag } from './lease-slots.ts';

const { lastUsed, expiresAt } = Field;
const { accepted, acceptedBefore } = ShareField;

/** A node's share of a window while it is cut off from the store. */
export interface EmergencyShare {
  /** -1: there is no slot to count in. */
  readonly slot: number;
  /** Units that it can still accept; negative when `add` counted more. */
  readonly room: number;
}

export interface EmergencyWindow {
  readonly period: WindowPeriod;
  readonly limit: number;
  readonly sliding: boolean;
  readonly start: number;
  readonly end: number;
  /** Slot of what was leased of the same window, with the last counts from the store; -1: nothing is known of it. */
  readonly leased: number;
}

/**
 * The share of a node: what was left of the window when the store was last heard of, divided by the number of nodes, and at least 1 if
 * anything was left. For use between `lock` and `unlock`.
 *
 * @param nodes 0: unknown, which counts as one.
 */
export function emergencyShare(table: ZoneTable, window: EmergencyWindow, nodes: number, now: number): EmergencyShare {
  const { values } = table;
  const { limit, sliding, start, end } = window;
  const weight = sliding ? shareOfPrevious(start, end, now) : 0;
  const slot = table.claim(shareTag(window.period), now);
  if (slot >= 0) begin(values, slot, window, now);
  const own = slot < 0 ? 0 : values[slot + accepted]! + values[slot + acceptedBefore]! * weight;
  const left = limit - lastKnown(table, window, weight);
  const share = left < 1 ? 0 : Math.max(1, Math.floor(left / Math.max(1, nodes)));
  return { slot, room: share - own };
}

function begin(values: Float64Array, slot: number, window: EmergencyWindow, now: number): void {
  const { start, end, sliding } = window;
  const begun = values[slot + ShareField.start]!;
  if (begun !== start) {
    values[slot + acceptedBefore] = isPrevious(window, begun) ? values[slot + accepted]! : 0;
    values[slot + accepted] = 0;
    values[slot + ShareField.start] = start;
  }
  values[slot + lastUsed] = now;
  values[slot + expiresAt] = sliding ? end + (end - start) : end;
}

/** What all nodes had used of the window when the store was last heard of. */
function lastKnown(table: ZoneTable, window: EmergencyWindow, weight: number): number {
  const { values } = table;
  const { leased } = window;
  if (leased >= 0) return values[leased + WindowField.usedByAll]! + values[leased + WindowField.usedBefore]! * weight;
  const stale = window.sliding ? table.find(windowTag(window.period)) : -1;
  if (stale < 0 || !isPrevious(window, values[stale + WindowField.start]!)) return 0;
  return values[stale + WindowField.usedByAll]! * weight;
}

function isPrevious({ period, start }: EmergencyWindow, begun: number): boolean {
  return begun !== 0 && windowAt(period, start - 1).start === begun;
}
