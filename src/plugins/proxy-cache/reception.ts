import { type AccessContext, type Reply, refuse } from '../../plugin-sdk/index.ts';
import { noDirectives } from './cache-control.ts';
import type { Finding, Kept } from './finder.ts';
import type { Wait } from './flights.ts';
import { moment } from './moment.ts';
import { type CacheParts, settled } from './parts.ts';
import { Passage, passageKey } from './passage.ts';
import { Refresher } from './refresher.ts';
import { type RequestFacts, requestFacts } from './request-facts.ts';
import { choosingHeaders } from './request-headers.ts';
import { type Soon, soon } from './soon.ts';
import { useOf } from './use.ts';
import { askWhether, removeConditions } from './validation.ts';

type Outcome = Soon<undefined | Reply>;

/** Requests, before a backend is asked. */
export class Reception {
  readonly #parts: CacheParts;
  readonly #refresher: Refresher;

  constructor(parts: CacheParts) {
    this.#parts = parts;
    this.#refresher = new Refresher(parts);
  }

  /** `access`: an answer that is kept, or nothing when the backend is to be asked. */
  receive(context: AccessContext): Outcome {
    const { request } = context;
    const { method } = request;
    if (!this.#parts.policy.methods.has(method)) return bypass(context);
    if (method === 'GET' || method === 'HEAD') return this.#lookUp(context, null);
    // A body of unknown size is not read: the answer cannot be told from those to other bodies.
    const { bodyLength } = request;
    if (bodyLength === 0) return this.#lookUp(context, null);
    if (bodyLength < 0 || bodyLength > this.#parts.policy.maxBody) return bypass(context);
    return context.body().then((body) => this.#lookUp(context, body));
  }

  #lookUp(context: AccessContext, body: Uint8Array | null): Outcome {
    const { keys, policy } = this.#parts;
    const facts = requestFacts(context, keys, policy, body);
    if (facts === null) return bypass(context);
    const finding = this.#find(context, facts);
    const now = Date.now();
    if (!(finding instanceof Promise)) return this.#decide(context, facts, finding, now + policy.wait, null);
    return finding.then(
      (found) => this.#decide(context, facts, found, now + policy.wait, null),
      (error: unknown) => {
        this.#parts.storeFailed(error);
        return bypass(context);
      },
    );
  }

  #find(context: AccessContext, facts: RequestFacts): Soon<Finding> {
    return this.#parts.finder.find(facts.place, choosingHeaders(context));
  }

  /** `passage`: of a request that has waited already. */
  #decide(
    context: AccessContext,
    facts: RequestFacts,
    { kept, key, indexed, unkept }: Finding,
    deadline: number,
    passage: Passage | null,
  ): Outcome {
    const now = Date.now();
    if (kept !== null) {
      // What came while the request waited was asked for with it: nobody has to ask again, one after the other.
      const awaited = passage !== null && kept.answer.storedAt > passage.came && facts.control === noDirectives;
      const use = awaited ? 'now' : useOf(kept.answer, facts.control, now);
      if (use === 'now') return this.#serve(facts, kept, now, passage);
      if (use === 'meanwhile' && facts.retrieves && context.request.method === 'GET') {
        if (context.followed) return this.#takeTurns(context, facts, kept, now, passage);
        const begun = this.#refresher.refresh(context, facts, kept);
        return soon(begun, () => this.#serve(facts, kept, now, passage));
      }
    }
    const way = passage ?? newPassage(context, facts, now);
    way.key = key;
    way.indexed = indexed;
    way.unkept = unkept;
    if (facts.control.onlyIfCached) return { ...refuse(504, 'The upstream server is timing out'), format: 'wire' };
    way.stale = kept;
    way.status = kept === null ? 'Miss' : 'Refresh';
    return this.#join(context, facts, way, deadline);
  }

  #serve(facts: RequestFacts, kept: Kept, now: number, passage: Passage | null): Reply {
    if (passage !== null) passage.told = true;
    return this.#parts.server.reply(kept, 'Hit', now, facts.wishes);
  }

  /**
   * What the backend alone says is not what there is to keep where other plugins come after this one. So one client waits for the
   * whole of it, and the others have what is kept.
   */
  #takeTurns(context: AccessContext, facts: RequestFacts, kept: Kept, now: number, passage: Passage | null): Outcome {
    const { key } = kept;
    const { flights } = this.#parts;
    if (flights.isSeparate(key)) return this.#serve(facts, kept, now, passage);
    let leads = false;
    const seat = settled(this.#parts, () => soon(flights.board(key), (wait) => (leads = wait === null)));
    return soon(seat, () => {
      if (!leads) return this.#serve(facts, kept, now, passage);
      const way = passage ?? newPassage(context, facts, now);
      way.key = key;
      way.stale = kept;
      way.renewing = true;
      way.status = 'Refresh';
      return this.#seated(context, facts, way, now, null);
    });
  }

  /** Leads, or waits for the one that does. */
  #join(context: AccessContext, facts: RequestFacts, way: Passage, deadline: number): Outcome {
    const { policy, flights } = this.#parts;
    const { key } = way;
    const { request } = context;
    const alone =
      !policy.coalesces ||
      way.unkept ||
      request.method === 'HEAD' ||
      facts.ranged ||
      Date.now() >= deadline ||
      flights.isSeparate(key);
    if (alone) return goOn(context, facts, way);
    const seat = flights.board(key);
    if (!(seat instanceof Promise)) {
      const landed = seat === null && way.stale === null ? this.#landed(context, facts) : null;
      if (landed === null) return this.#seated(context, facts, way, deadline, seat);
      flights.land(key);
      return this.#serve(facts, landed, Date.now(), way);
    }
    return seat.then(
      (wait) => this.#seated(context, facts, way, deadline, wait),
      (error: unknown) => {
        this.#parts.storeFailed(error);
        return goOn(context, facts, way);
      },
    );
  }

  /** What another worker has kept between the look for it and the boarding of its flight; Redis tells by itself. */
  #landed(context: AccessContext, facts: RequestFacts): Kept | null {
    const found = this.#find(context, facts);
    if (found instanceof Promise || found.kept === null) return null;
    return useOf(found.kept.answer, facts.control, Date.now()) === 'now' ? found.kept : null;
  }

  #seated(context: AccessContext, facts: RequestFacts, way: Passage, deadline: number, wait: Wait | null): Outcome {
    if (wait !== null) return this.#wait(context, facts, way, deadline, wait);
    way.flight = way.key;
    // It was over before it could lead.
    if (way.over) this.#parts.land(way);
    return goOn(context, facts, way);
  }

  async #wait(
    context: AccessContext,
    facts: RequestFacts,
    way: Passage,
    deadline: number,
    wait: Wait,
  ): Promise<undefined | Reply> {
    try {
      const end = await wait(Math.max(1, deadline - Date.now()));
      if (way.over || end === 'late') return goOn(context, facts, way);
      return await this.#decide(context, facts, await this.#find(context, facts), deadline, way);
    } catch (error) {
      this.#parts.storeFailed(error);
      return goOn(context, facts, way);
    }
  }
}

function newPassage(context: AccessContext, facts: RequestFacts, now: number): Passage {
  const passage = new Passage(facts, now);
  passage.headers = choosingHeaders(context);
  context.set(passageKey, passage);
  return passage;
}

function bypass(context: AccessContext): undefined {
  context.set(passageKey, new Passage(null, 0));
}

/** The backend is asked: whether what is kept still holds, or for the whole, which others can use, too. */
function goOn(context: AccessContext, facts: RequestFacts, way: Passage): undefined {
  way.asked = Date.now();
  way.moment = moment();
  if (!facts.retrieves) return;
  const { stale } = way;
  if (stale !== null) way.validating = askWhether(context, stale);
  if (facts.wishes !== null && !way.validating && !facts.ranged) removeConditions(context);
}
