import { type Evaluation, evaluate, refused } from './evaluate.ts';
import { RedisRefusal } from './redis-errors.ts';
import type { RedisLink } from './redis-link.ts';
import { RedisNode } from './redis-node.ts';

/** One server that has all keys. */
export class SingleRedis implements RedisLink {
  readonly isCluster = false;
  readonly #name: string;
  readonly #node: RedisNode;

  constructor(name: string, open: ConstructorParameters<typeof RedisNode>[1]) {
    this.#name = name;
    this.#node = new RedisNode(name, open);
  }

  async run(evaluation: Evaluation): Promise<unknown> {
    try {
      return await evaluate(this.#node, evaluation);
    } catch (error) {
      if (!(error instanceof RedisRefusal)) throw error;
      // It was a master: Sentinels, or the name, lead to the new one.
      if (error.code === 'READONLY') this.#node.drop(error.message);
      throw refused(this.#name, error);
    }
  }

  group<T>(items: readonly T[]): readonly (readonly T[])[] {
    return items.length === 0 ? [] : [items];
  }

  close(): void {
    this.#node.close();
  }
}
