import { contextKey } from '../../plugin-sdk/index.ts';
import type { Kept } from './finder.ts';
import type { RequestFacts } from './request-facts.ts';
import type { HeaderValues } from './request-headers.ts';
import type { CacheStatus } from './served.ts';

const noHeaders: HeaderValues = () => [];

/** One request's way past the cache. A hit that comes at once has none. */
export class Passage {
  readonly facts: RequestFacts | null;
  /** When it came, milliseconds since the epoch. */
  readonly came: number;
  /** When the backend is asked, milliseconds since the epoch. */
  asked: number;
  /** The same as a moment. */
  moment = 0;
  status: CacheStatus;
  /** The headers that may choose the answer. */
  headers: HeaderValues = noHeaders;
  /** Shown to the client; '' when there is none. */
  key = '';
  /** That is where the answer will be if it needs no other place than others of its address. */
  indexed = false;
  /** What is kept, but needs the backend's word. */
  stale: Kept | null = null;
  /** What is kept may be used for now: it is renewed in the course of this request. */
  renewing = false;
  /** The backend is asked whether that still holds: a 304 is for the cache. */
  validating = false;
  /** Others wait for this request at this key. */
  flight = '';
  /** It is known already that nothing is kept here. */
  unkept = false;
  /** The answer's lines tell about the cache already. */
  told = false;
  /** The request is over. */
  over = false;

  constructor(facts: RequestFacts | null, came: number) {
    this.facts = facts;
    this.came = came;
    this.asked = came;
    this.status = facts === null ? 'Bypass' : 'Miss';
  }
}

export const passageKey = contextKey<Passage>('proxy-cache');
