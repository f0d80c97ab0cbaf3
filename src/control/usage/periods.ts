import type { UsageResolution } from '../store/usage-store.ts';

/** Milliseconds. */
export const lengths: Readonly<Record<UsageResolution, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

/** From the finest on. */
export const resolutions: readonly UsageResolution[] = ['minute', 'hour', 'day'];

/** When the minute, hour or day (UTC) of an instant began. Milliseconds since the epoch. */
export function startOf(resolution: UsageResolution, instant: number): number {
  const length = lengths[resolution];
  return Math.floor(instant / length) * length;
}
