import type { BalanceQuery } from './balancer.ts';
import type { RuntimeTarget } from './runtime-target.ts';

/** The address failed in this request already. After a change of config the same address is another object. */
export function hasFailed({ failedTargets }: BalanceQuery, target: RuntimeTarget): boolean {
  if (failedTargets === null) return false;
  for (const failed of failedTargets) {
    if (failed === target || (failed.slot !== 0 && failed.slot === target.slot)) return true;
  }
  return false;
}

/** The address must not be used for this request. */
export function isExcluded({ admits }: BalanceQuery, target: RuntimeTarget): boolean {
  return admits !== null && !admits(target);
}

/**
 * The first usable address from `start` on, around the list; one that has failed already only when there is no other.
 * For the rare request for which the algorithm of a balancer has found none.
 */
export function firstUsable(
  targets: readonly RuntimeTarget[],
  query: BalanceQuery,
  start: number,
): RuntimeTarget | null {
  let failed: RuntimeTarget | null = null;
  for (let step = 0; step < targets.length; step++) {
    const target = targets[(start + step) % targets.length]!;
    if (isExcluded(query, target)) continue;
    if (!hasFailed(query, target)) return target;
    failed ??= target;
  }
  return failed;
}
