import { type AccessContext, type BackendAnswer, CallFailed } from '../../plugin-sdk/index.ts';
import type { Kept } from './finder.ts';
import { type Judgement, judge, updatedLines } from './judge.ts';
import { moment } from './moment.ts';
import { type CacheParts, settled } from './parts.ts';
import type { RequestFacts } from './request-facts.ts';
import { choosingHeaders, type HeaderValues } from './request-headers.ts';
import { type Soon, soon } from './soon.ts';
import { isFailure } from './use.ts';
import { askWhether, removeConditions } from './validation.ts';

/** Milliseconds for an answer that nobody waits for. */
const patience = 60_000;

/** Fetches answers anew while the stale ones are still used (RFC 5861 3). */
export class Refresher {
  readonly #parts: CacheParts;
  /** Keys that this worker is at. */
  readonly #busy = new Set<string>();

  constructor(parts: CacheParts) {
    this.#parts = parts;
  }

  /** Settles when it has begun, or when somebody else is at it. */
  refresh(context: AccessContext, facts: RequestFacts, kept: Kept): Soon<void> {
    const { key } = kept;
    if (this.#busy.has(key)) return;
    this.#busy.add(key);
    const begin = (free: boolean): Soon<void> => {
      if (!free) {
        this.#busy.delete(key);
        return;
      }
      return soon(this.#isRenewed(kept), (renewed) => {
        if (!renewed) {
          this.#fetch(context, facts, kept);
          return;
        }
        this.#busy.delete(key);
        this.#parts.flights.land(key);
      });
    };
    return soon(
      settled(this.#parts, () => soon(this.#parts.flights.board(key), (wait) => wait === null)),
      begin,
    );
  }

  /** Another worker may have landed between the look and the boarding. */
  #isRenewed({ key, entry }: Kept): Soon<boolean> {
    const { store } = this.#parts;
    return settled(this.#parts, () => soon(store.get(key), (now) => now !== null && now.head !== entry.head));
  }

  #fetch(context: AccessContext, facts: RequestFacts, kept: Kept): void {
    if (!askWhether(context, kept)) removeConditions(context);
    context.upstream.removeHeader('Range');
    context.upstream.removeHeader('If-Range');
    const asked = Date.now();
    const began = moment();
    const headers = choosingHeaders(context);
    context
      .call({
        pass: 'all',
        timeout: patience,
        maxBytes: this.#parts.policy.maxBody,
        keepCoding: true,
        detached: true,
      })
      .then((answer) => this.#arrived(facts, kept, answer, { asked, began }, headers))
      .catch((error: unknown) => {
        // Served stale until it may no longer be; then the clients learn of it.
        if (!(error instanceof CallFailed)) this.#parts.storeFailed(error);
      })
      .finally(() => {
        this.#busy.delete(kept.key);
        this.#parts.flights.land(kept.key);
      });
  }

  async #arrived(
    facts: RequestFacts,
    kept: Kept,
    answer: BackendAnswer,
    { asked, began }: { readonly asked: number; readonly began: number },
    headers: HeaderValues,
  ): Promise<void> {
    const { policy, keeper, store } = this.#parts;
    const confirmed = answer.status === 304;
    if (isFailure(answer.status)) return;
    const came = Date.now();
    const block = confirmed ? updatedLines(kept.answer.block, answer.block(), policy.cookies, came) : answer.block();
    const status = confirmed ? kept.answer.status : answer.status;
    const personal = facts.place.who !== '';
    const judgement: Judgement | null = judge(
      { status, block, authorized: facts.authorized, personal, asked, came },
      policy,
    );
    if (judgement === null) {
      await store.purge({ key: kept.key });
      return;
    }
    const body = confirmed ? kept.entry.body : answer.body;
    const tags = confirmed ? kept.entry.tags : [];
    const { place } = facts;
    const key = await keeper.reserve(place, judgement, began, headers);
    if (key !== null) await keeper.put(key, { place, status, block, body, judgement, moment: began, came, tags });
  }
}
