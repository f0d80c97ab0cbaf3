import type { WindowVerdict } from '../../plugin-sdk/index.ts';
import type { CountedLimit } from './counted-limits.ts';

interface Look {
  readonly limit: CountedLimit;
  verdict: WindowVerdict;
  /** Remaining requests of the limit's fullest window when the request came. */
  readonly remaining: number;
}

/** The usage of the client of one request. */
export class Usage {
  readonly key: string;
  readonly looks: readonly Look[];
  /** The response is replaced by an empty one. */
  refused = false;

  constructor(key: string, limits: readonly CountedLimit[], verdicts: readonly WindowVerdict[]) {
    this.key = key;
    this.looks = limits.flatMap((limit, at) => {
      const verdict = verdicts[at];
      if (verdict === undefined) return [];
      return [{ limit, verdict, remaining: Math.min(...verdict.windows.map((window) => window.remaining)) }];
    });
  }

  /** Rejects with a `LimiterUnavailable`; synchronous with local counters. */
  static look(limits: readonly CountedLimit[], key: string): Usage | Promise<Usage> {
    const verdicts = limits.map(({ limiter }) => limiter.peek(key));
    if (verdicts.some((verdict) => verdict instanceof Promise)) {
      return Promise.all(verdicts).then((all) => new Usage(key, limits, all));
    }
    return new Usage(key, limits, verdicts as readonly WindowVerdict[]);
  }

  /** Other requests may have finished since. Remote counters keep their earlier values. */
  lookAgain(): void {
    for (const look of this.looks) {
      if (!look.limit.isLocal) continue;
      const verdict = look.limit.limiter.peek(this.key);
      if (!(verdict instanceof Promise)) look.verdict = verdict;
    }
  }

  firstFull(): CountedLimit | null {
    return this.looks.find(({ verdict }) => !verdict.allowed)?.limit ?? null;
  }
}
