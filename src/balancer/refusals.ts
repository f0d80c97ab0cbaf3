import type { RuntimeTarget } from '../snapshot/runtime.ts';
import type { BalanceQuery } from './balancer.ts';

/** The address failed in this request already. After a change of config the same address is another object. */
export function hasFailed({ failedTargets }: BalanceQuery, target: RuntimeTarget): boolean {
  if (failedTargets === null) return false;
  for (const failed of failedTargets) {
    if (failed === target || (failed.slot !== 0 && failed.slot === target.slot)) return true;
  }
  return false;
}

/** The address is not to be used for this request. */
export function isRefused({ admits }: BalanceQuery, target: RuntimeTarget): boolean {
  return admits !== null && !admits(target);
}

/**
 * The first of the addresses from `start` on, around the list, that may be used; one that has failed already only when there
 * is no other. For the rare request that a balancer's own way has found nothing for.
 */
export function firstUsable(
  targets: readonly RuntimeTarget[],
  query: BalanceQuery,
  start: number,
): RuntimeTarget | null {
  let failed: RuntimeTarget | null = null;
  for (let step = 0; step < targets.length; step++) {
    const target = targets[(start + step) % targets.length]!;
    if (isRefused(query, target)) continue;
    if (!hasFailed(query, target)) return target;
    failed ??= target;
  }
  return failed;
}
