import type { WindowPeriod } from '../../../plugin-sdk/limits.ts';
import { Field } from '../../zones/zone-layout.ts';

/*
 * The slots of a key in the zone of a node, for the policy `cluster`: two for each of its windows, and one for the key itself. Leases are
 * not handed over to a successor, which could not give them back: their tags are above those that `ZoneTransfer` copies.
 */
const firstTag = 0x10000;
const periods: readonly WindowPeriod[] = ['second', 'minute', 'hour', 'day', 'month', 'year'];

export function windowTag(period: WindowPeriod): number {
  return firstTag + periods.indexOf(period);
}

export function shareTag(period: WindowPeriod): number {
  return firstTag + periods.length + periods.indexOf(period);
}

export const keyTag = firstTag + 2 * periods.length;
/** Of the slot that all keys of a zone share: the number of nodes. */
export const nodesTag = keyTag + 1;

/** The slot of a window: what the node holds of it, and the last counts from the store. */
export const WindowField = Object.freeze({
  start: Field.first,
  held: Field.second,
  usedByAll: Field.third,
  usedBefore: Field.fourth,
});

/** The slot of a window's emergency share: what was accepted of it in this window and in the previous one. */
export const ShareField = Object.freeze({ start: Field.first, accepted: Field.second, acceptedBefore: Field.third });

/** The slot of a key. */
export const KeyField = Object.freeze({
  /** No further lease is requested until then. */
  quietUntil: Field.first,
  /** Units accepted since `since`. */
  units: Field.second,
  since: Field.third,
  /** What the node held of the scarcest window after the last lease; 0: too little to request the next one in advance. */
  size: Field.fourth,
});
