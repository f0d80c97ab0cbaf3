import { nextTurn } from '../against/lanes.ts';
import type { BenchContext } from '../context.ts';

/** One contender's part of a round: loads for so many seconds and returns what was measured. */
export type Turn<T> = (seconds: number, round: number) => Promise<T>;

/**
 * Gives each contender its turn, round after round, so that what disturbs the machine disturbs all of them. The first round
 * warms up and is not counted. Returns what each of them measured in each of the others.
 */
export async function inTurns<T>(
  context: Pick<BenchContext, 'rounds' | 'seconds'>,
  turns: readonly Turn<T>[],
): Promise<readonly (readonly T[])[]> {
  const measured = turns.map(() => [] as T[]);
  for (let round = 0; round <= context.rounds; round++) {
    for (const [index, turn] of turns.entries()) {
      await nextTurn(round);
      const result = await turn(round === 0 ? Math.min(3, context.seconds) : context.seconds, round);
      if (round > 0) measured[index]?.push(result);
    }
  }
  return measured;
}
