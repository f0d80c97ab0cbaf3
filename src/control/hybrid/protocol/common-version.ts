import type { ProtocolRange } from './messages.ts';

/** The greatest version that both ends speak; null: there is none. */
export function commonVersion(one: ProtocolRange, other: ProtocolRange): number | null {
  const version = Math.min(one.max, other.max);
  return version >= Math.max(one.min, other.min) ? version : null;
}

export function describeRange({ min, max }: ProtocolRange): string {
  return min === max ? String(min) : `${min} to ${max}`;
}
