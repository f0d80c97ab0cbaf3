import { RedisRefusal, RedisUnavailable } from './redis-errors.ts';
import type { RedisArguments, RedisNode } from './redis-node.ts';
import type { RedisScript } from './redis-script.ts';

/** One script with its keys and arguments. */
export interface Evaluation {
  readonly script: RedisScript;
  readonly keys: readonly string[];
  readonly args: RedisArguments;
  /** True: strings in the answer are bytes. */
  readonly binary: boolean;
}

/**
 * Runs a script on a server. It is sent by its name; in full only to a server that does not know it and has therefore not
 * run it: a restarted one, another master, one whose scripts were flushed. `asking`: the server is about to receive the
 * slot of the keys.
 */
export async function evaluate(
  node: RedisNode,
  { script, keys, args, binary }: Evaluation,
  asking = false,
): Promise<unknown> {
  const rest = [keys.length, ...keys, ...args];
  const before: readonly RedisArguments[] = asking ? [['ASKING']] : [];
  try {
    return await node.send([...before, ['EVALSHA', script.sha, ...rest]], binary);
  } catch (error) {
    if (!(error instanceof RedisRefusal) || error.code !== 'NOSCRIPT') throw error;
    return await node.send([...before, ['EVAL', script.lua, ...rest]], binary);
  }
}

/** A refusal as it is reported to the users of a link. */
export function refused(name: string, refusal: RedisRefusal): RedisUnavailable {
  return new RedisUnavailable(`${name} does not answer: ${refusal.message}`);
}
