import type { ResolvedAddress } from './types.ts';

/**
 * The addresses of a new answer. Servers rotate the order of records with every answer, which has no meaning: known addresses keep
 * their position, and the same set of addresses returns the same array.
 */
export function mergeAddresses(
  known: readonly ResolvedAddress[],
  found: readonly ResolvedAddress[],
): readonly ResolvedAddress[] {
  const fresh = new Map(found.map((address) => [addressKey(address), address]));
  const kept = known.filter((address) => fresh.delete(addressKey(address)));
  if (kept.length === known.length && fresh.size === 0) return known;
  return Object.freeze([...kept, ...fresh.values()]);
}

function addressKey({ ip, port, weight, name }: ResolvedAddress): string {
  return `${ip} ${port} ${weight} ${name}`;
}
