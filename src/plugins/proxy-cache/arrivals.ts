import type { AnswerTap, BackendAnswerContext, BaseContext, HeaderBlock, Reply } from '../../plugin-sdk/index.ts';
import { Collector } from './collector.ts';
import type { Kept } from './finder.ts';
import { lineOf, linesOf } from './header-lines.ts';
import { invalidate } from './invalidation.ts';
import { type Judgement, judge, keptLines, updatedLines } from './judge.ts';
import { type CacheParts, settled } from './parts.ts';
import { type Passage, passageKey } from './passage.ts';
import type { RequestFacts } from './request-facts.ts';
import { soon } from './soon.ts';
import { isFailure, servesErrors } from './use.ts';

/** Milliseconds for which it is known that what is at a key is not kept, and that its backend fails. */
const unkeptFor = 10_000;
const failingFor = 1_000;

/** Answers, as the backend sends them. */
export class Arrivals {
  readonly #parts: CacheParts;

  constructor(parts: CacheParts) {
    this.#parts = parts;
  }

  /** `backendAnswer`. */
  arrived(context: BackendAnswerContext): AnswerTap | Reply | null {
    const passage = context.get(passageKey);
    if (passage === undefined) return null;
    const { facts } = passage;
    if (facts === null) {
      invalidate(context, this.#parts);
      return null;
    }
    const { response, request } = context;
    const { stale } = passage;
    const now = Date.now();
    if (stale !== null) {
      if (passage.validating && response.status === 304) return this.#confirmed(context, passage, facts, stale, now);
      if (isFailure(response.status) && (passage.renewing || servesErrors(stale.answer, now))) {
        return this.#serveStale(passage, facts, stale, now);
      }
    }
    const block = response.block();
    const judgement = judge(arrivalOf(passage, facts, response.status, block, now), this.#parts.policy);
    if (judgement === null || response.bodyLength > this.#parts.policy.maxBody) {
      this.#unkept(passage, facts, response.status);
      return null;
    }
    if (request.method === 'HEAD') {
      if (stale !== null && contradicts(stale.answer.block, block)) this.#purge(stale.key);
      this.#parts.land(passage);
      return null;
    }
    return this.#collect(context, passage, facts, judgement, block, now);
  }

  /** `backendFailure`. */
  failed(context: BaseContext): Reply | null {
    const passage = context.get(passageKey);
    if (passage === undefined || passage.facts === null) return null;
    const now = Date.now();
    const { stale } = passage;
    if (stale !== null && (passage.renewing || servesErrors(stale.answer, now))) {
      return this.#serveStale(passage, passage.facts, stale, now);
    }
    this.#unkept(passage, passage.facts, 503);
    return null;
  }

  #collect(
    { response }: BackendAnswerContext,
    passage: Passage,
    facts: RequestFacts,
    judgement: Judgement,
    block: HeaderBlock,
    came: number,
  ): AnswerTap | null {
    const { keeper, policy, budget } = this.#parts;
    const { place } = facts;
    const { moment } = passage;
    const reserved = keeper.reserve(place, judgement, moment, passage.headers);
    if (reserved === null) {
      this.#parts.land(passage);
      return null;
    }
    // The client is told the key if it is known in time.
    if (typeof reserved === 'string') passage.key = reserved;
    else {
      const usual = passage.indexed || (passage.key === place.key && judgement.vary.length === 0);
      if (!usual) passage.key = '';
      // It is waited for at the end; that it fails is no unhandled rejection until then.
      reserved.catch(() => {});
    }
    const keeping = { place, status: response.status, block, judgement, moment, came };
    const collector = new Collector({
      length: response.bodyLength,
      limit: policy.maxBody,
      budget,
      complete: (body) => {
        const put = () => soon(reserved, (key) => key === null || keeper.put(key, { ...keeping, body }));
        this.#landAfter(passage, settled(this.#parts, put));
      },
      failed: (broken) => {
        if (broken) this.#parts.land(passage);
        else this.#unkept(passage, facts, 200);
      },
    });
    if (response.bodyLength !== 0) return collector;
    collector.end();
    return null;
  }

  /** What is kept holds on: it is the answer, with the lines of the 304 (RFC 9111 4.3.4). */
  #confirmed(
    context: BackendAnswerContext,
    passage: Passage,
    facts: RequestFacts,
    { key, entry, answer }: Kept,
    now: number,
  ): Reply {
    const { keeper, policy, server } = this.#parts;
    const { response } = context;
    const confirmation = response.block();
    const block = updatedLines(answer.block, confirmation, policy.cookies, now);
    const judgement = judge(arrivalOf(passage, facts, answer.status, block, now), policy);
    let fresh = { ...answer, age: 0, storedAt: now, block: keptLines(block, policy, now) };
    if (judgement === null) {
      this.#purge(key);
      this.#parts.land(passage);
    } else {
      fresh = { ...fresh, ...judgement };
      const { status } = answer;
      const { place } = facts;
      const { moment } = passage;
      const keeping = { place, status, block, body: entry.body, judgement, moment, came: now, tags: entry.tags };
      const put = () =>
        soon(
          keeper.reserve(place, judgement, moment, passage.headers),
          (reserved) => reserved === null || keeper.put(reserved, keeping),
        );
      this.#landAfter(passage, settled(this.#parts, put));
    }
    // Cookies are for the one who asked.
    if (policy.cookies !== 'store') {
      for (const cookie of linesOf(confirmation, 'set-cookie')) fresh.block += `Set-Cookie: ${cookie}\r\n`;
    }
    passage.told = true;
    return server.reply({ key, entry, answer: fresh }, 'Refresh', now, facts.wishes);
  }

  /** Others look again once it is kept. If there was no room for it they would find nothing, one after the other. */
  #landAfter(passage: Passage, kept: boolean | Promise<boolean>): void {
    const { flights } = this.#parts;
    const { flight } = passage;
    // The request may be over before the store has it: its log phase must not land.
    passage.flight = '';
    soon(kept, (done) => {
      if (flight === '') return;
      if (!done) flights.separate(flight, failingFor);
      flights.land(flight);
    });
  }

  #serveStale(passage: Passage, facts: RequestFacts, stale: Kept, now: number): Reply {
    // Whoever waits would only fail, too: they are served the same, each at once.
    this.#parts.flights.separate(passage.flight, failingFor);
    this.#parts.land(passage);
    passage.told = true;
    return this.#parts.server.reply(stale, 'Hit', now, facts.wishes);
  }

  /** The answer is not for the cache: nobody is to wait for it, nor for the next ones. */
  #unkept(passage: Passage, facts: RequestFacts, status: number): void {
    const { flights, keeper } = this.#parts;
    passage.status = 'Bypass';
    const { stale, flight } = passage;
    const failing = isFailure(status);
    // What the backend says now takes the place of what it said before, kept or not; that it fails says nothing.
    if (stale !== null && !failing && status !== 304 && status !== 206) this.#purge(stale.key);
    if (flight === '') return;
    const span = failing ? failingFor : unkeptFor;
    flights.separate(flight, span);
    if (stale !== null && failing) {
      this.#parts.land(passage);
      return;
    }
    passage.flight = '';
    soon(
      settled(this.#parts, () => keeper.markUnkept(flight, facts.place, span)),
      () => flights.land(flight),
    );
  }

  #purge(key: string): void {
    settled(this.#parts, () => soon(this.#parts.store.purge({ key }), () => true));
  }
}

function arrivalOf(passage: Passage, facts: RequestFacts, status: number, block: HeaderBlock, came: number) {
  const personal = facts.place.who !== '';
  return { status, block, authorized: facts.authorized, personal, asked: passage.asked, came };
}

/** A HEAD tells of another representation than the one that is kept (RFC 9111 4.3.5). */
function contradicts(kept: HeaderBlock, told: HeaderBlock): boolean {
  return ['etag', 'last-modified'].some((name) => {
    const value = lineOf(told, name);
    return value !== null && value !== lineOf(kept, name);
  });
}
