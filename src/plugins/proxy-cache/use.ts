import type { CacheControl } from './cache-control.ts';
import { ageOf, type StoredAnswer } from './stored-answer.ts';

/** How a kept answer may be used: as it is, as it is while it is fetched anew, or only once the backend was asked. */
export type Use = 'now' | 'meanwhile' | 'validated';

/** RFC 9111 4.2, 4.2.4, 5.2.1; RFC 5861 3. `now`: milliseconds since the epoch. */
export function useOf(answer: StoredAnswer, control: CacheControl, now: number): Use {
  if (answer.alwaysValidate) return 'validated';
  const age = ageOf(answer, now);
  const { freshFor } = answer;
  if (control.maxAge >= 0 && age >= control.maxAge) return 'validated';
  if (age < freshFor) return control.minFresh < 0 || freshFor - age >= control.minFresh ? 'now' : 'validated';
  if (answer.neverStale) return 'validated';
  const stale = age - freshFor;
  if (control.maxStale >= stale) return 'now';
  const strict = control.maxAge >= 0 || control.minFresh >= 0;
  return !strict && stale < answer.staleWhileRevalidate ? 'meanwhile' : 'validated';
}

/** Whether it may stand for an answer of a backend that fails (RFC 5861 4). */
export function servesErrors(answer: StoredAnswer, now: number): boolean {
  return !answer.neverStale && !answer.alwaysValidate && ageOf(answer, now) - answer.freshFor < answer.staleIfError;
}

/** Answers that say no more than that the backend failed. */
export function isFailure(status: number): boolean {
  return status === 500 || status === 502 || status === 503 || status === 504;
}
