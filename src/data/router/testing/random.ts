/** A seeded source of randomness for tests; the seed is part of each failure message. */
export interface Random {
  readonly seed: number;
  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
  /** Each item with the given chance. */
  some<T>(items: readonly T[], chance: number): T[];
}

/** `SEED` in the environment repeats a run. */
export function createRandom(seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000_007)): Random {
  let state = seed >>> 0;
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    seed,
    below: (limit) => Math.floor(next() * limit),
    pick: (items) => items[Math.floor(next() * items.length)]!,
    some: (items, chance) => items.filter(() => next() < chance),
  };
}
