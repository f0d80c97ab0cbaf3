import type { ResolvedAddress } from './types.ts';

/**
 * The addresses of a new answer. Servers turn the order of records round with every answer, which says nothing: what
 * was known keeps its place, and the same set of addresses gives the very array that was known.
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
