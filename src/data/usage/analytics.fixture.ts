import { monotonic } from '../../shared/util/time/clock.ts';
import type { CountedRequest } from './usage-recorder.ts';

/** A request that took `took` milliseconds and ended at `ended`. */
export function countedRequest(
  fields: Partial<Omit<CountedRequest, 'startedAt' | 'startedMono' | 'firstByteMono'>> & {
    readonly ended?: number;
    readonly took?: number;
    /** Milliseconds of the backend; null: not contacted. */
    readonly upstream?: number | null;
  } = {},
): CountedRequest {
  const { ended = Date.now(), took = 10, upstream = null, ...rest } = fields;
  const now = monotonic();
  const startedMono = now - took;
  return {
    route: null,
    service: null,
    consumer: null,
    apiVersion: '',
    status: 200,
    startedAt: ended - took,
    startedMono,
    upstreamStartedMono: upstream === null ? 0 : startedMono + 1,
    firstByteMono: upstream === null ? 0 : startedMono + 1 + upstream,
    ...rest,
  };
}

export function named(id: string): { readonly id: string; readonly name: string } {
  return { id, name: `name of ${id}` };
}

export function person(id: string): { readonly id: string; readonly username: string; readonly customId: null } {
  return { id, username: `user ${id}`, customId: null };
}
