import { outageReporter, type PluginTools } from '../../plugin-sdk/index.ts';
import type { AnswerStore } from './answer-store.ts';
import type { Budget } from './collector.ts';
import { Finder } from './finder.ts';
import { Flights } from './flights.ts';
import { Keeper } from './keeper.ts';
import { AddressKeys } from './keys.ts';
import type { Passage } from './passage.ts';
import type { CachePolicy } from './policy.ts';
import { Server } from './served.ts';

/** What one instance of the cache is made of, in one worker. */
export interface CacheParts {
  readonly policy: CachePolicy;
  readonly store: AnswerStore;
  readonly keys: AddressKeys;
  readonly finder: Finder;
  readonly keeper: Keeper;
  readonly server: Server;
  readonly flights: Flights;
  readonly budget: Budget;
  /** Counts and logs that the store does not answer. */
  readonly storeFailed: (error: unknown) => void;
  /** Lets go those who wait for this request. */
  land(passage: Passage): void;
}

/** Bytes of answers that a worker copies at one time. */
const mostCopied = 64 * 2 ** 20;

/** Milliseconds after which somebody else may lead: longer than the others wait, as the first one is likely to be alive. */
const shortestLease = 10_000;

export function cacheParts(policy: CachePolicy, store: AnswerStore, tools: PluginTools): CacheParts {
  const finder = new Finder(store);
  const flights = new Flights(store, Math.max(policy.wait, shortestLease));
  return {
    policy,
    store,
    keys: new AddressKeys(policy),
    finder,
    keeper: new Keeper(store, finder, policy),
    server: new Server(policy),
    flights,
    budget: { left: Math.max(mostCopied, policy.maxBody) },
    storeFailed: outageReporter(tools, 'store_failures', 'the cache does without its store, which does not answer'),
    land(passage) {
      const { flight } = passage;
      if (flight === '') return;
      passage.flight = '';
      flights.land(flight);
    },
  };
}

/** Whether the store did what it was asked for; a failure of it is told, and false. */
export function settled(parts: CacheParts, work: () => boolean | Promise<boolean>): boolean | Promise<boolean> {
  const failed = (error: unknown): boolean => {
    parts.storeFailed(error);
    return false;
  };
  try {
    const result = work();
    return result instanceof Promise ? result.catch(failed) : result;
  } catch (error) {
    return failed(error);
  }
}
