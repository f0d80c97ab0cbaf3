/**
 * Brings a request to a backend: a state machine for each exchange, whose state is `x.attemptState`.
 *
 *             .-------------- stale link ---------------.
 *             |   .------------- idle link -----------. |
 *             v   |                                   v |
 *   start -> choosing ---> connecting -- connected -> awaiting -- head -> answering --.
 *             ^  ^  |          |                          |                           |
 *             |  |  v          | refused, timeout         | closed, timeout,          | over,
 *             | resolving      |                          | status to retry           | unusable
 *             |     |          v                          v                           v
 *             |     '-----> (the attempt failed: does a retry follow?) ---- no ---> ended
 *             |                    | at once      | later
 *             '--------------------+-- pausing <--'
 *
 * | state | event | next state |
 * |---|---|---|
 * | choosing | `located` | awaiting, or connecting without an idle link |
 * | | no known address of a name | resolving (addresses.ts) |
 * | | `noTarget` | choosing with a fallback upstream, else ended |
 * | resolving | address found; `noAddress` | choosing; failed |
 * | connecting | connected; refused, connect timeout, `#tryExpired` | awaiting; failed |
 * | awaiting | `responseHead` | answering, or a retry of this status |
 * | | `upstreamFailed`, `#tryExpired` | choosing when the link was stale, else failed |
 * | answering | `upstreamFailed`, `unusable` | ended |
 * | any | `#totalExpired`, `finished` | ended |
 *
 * `enter` makes every transition. It increments `x.attemptSerial`, so that callbacks of earlier states do nothing.
 * Whether a retry follows is decided in retry.ts; `#end` is the only way to `ended`.
 */
import type { AttemptResult } from '../../plugin-sdk/attempts.ts';
import type { Reply } from '../../plugin-sdk/reply.ts';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { type Answers, endTap } from '../answer/answer.ts';
import type { RuntimeTarget } from '../balancer/runtime-target.ts';
import type { ParsedResponse } from '../http1/parse-response.ts';
import type { Exchange, UpstreamLink } from '../request/exchange.ts';
import { RequestBody } from '../request/request-body.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';
import type { PoolOptions } from '../upstream/pool.ts';
import { Pools } from '../upstream/pools.ts';
import { abandonLink, type ResponseListener, type UpstreamSource } from '../upstream/upstream-link.ts';
import type { WorkerResolver } from '../upstream/worker-resolver.ts';
import { Addresses, type AddressListener } from './addresses.ts';
import type { AttemptRecords } from './attempt-records.ts';
import { enter, isCurrent, AttemptState as State } from './attempt-state.ts';
import { applyGrpcTimeout } from './attempt-timeouts.ts';
import { connectResult, linkResult } from './failure-cause.ts';
import { sendRequest, timeoutsOf } from './request-message.ts';
import { isStale, reportStopped, reportTotalTimeout, retryAfterAnswer, retryAfterFailure } from './retry.ts';
import { UpstreamPolicy } from './upstream-policy.ts';

export interface AttemptsParts {
  readonly answers: Answers;
  readonly records: AttemptRecords;
  readonly pool: PoolOptions;
  readonly names: WorkerResolver;
  readonly unexpected: (x: Exchange | null, error: unknown) => void;
}

export class Attempts implements AddressListener, ResponseListener {
  readonly unexpected: AttemptsParts['unexpected'];
  readonly #answers: Answers;
  readonly #records: AttemptRecords;
  readonly #pools: Pools;
  readonly #addresses: Addresses;

  constructor({ answers, records, pool, names, unexpected }: AttemptsParts) {
    this.unexpected = unexpected;
    this.#answers = answers;
    this.#records = records;
    this.#pools = new Pools(pool, this);
    this.#addresses = new Addresses(this.#pools, names, this);
  }

  /** Begins. The exchange has a service. */
  start(x: Exchange): void {
    if (x.bodyTaken && x.requestBody === null) {
      // A plugin has read the body, or as much as it accepts: the rest would reach the backend as if it were the whole.
      this.#answers.error(x, errors.payloadTooLarge);
      return;
    }
    if (x.requestBody === null && x.head.bodyLength !== 0) x.body = new RequestBody(x);
    if ((x.service as RuntimeService).http2) applyGrpcTimeout(x, timeoutsOf(x));
    const { total } = timeoutsOf(x);
    if (total > 0) {
      x.policy ??= new UpstreamPolicy();
      x.policy.limitTotal(total, x.startedMono, () => this.guarded(x, () => this.#totalExpired(x)));
    }
    this.#addresses.search(x);
  }

  noTarget(x: Exchange): void {
    const { policy } = x;
    const fallback = policy === null || policy.fellBack ? null : policy.noAddress();
    if (fallback !== null && policy !== null) {
      if ('reply' in fallback) {
        this.#end(x, null, fallback.reply);
        return;
      }
      const upstream = x.snapshot.upstream(fallback.upstream);
      if (upstream !== null) {
        policy.fellBack = true;
        policy.upstream = upstream;
        this.#addresses.search(x);
        return;
      }
    }
    this.#end(x, errors.noTarget, null);
  }

  noAddress(x: Exchange): void {
    this.#failed(x, errors.nameResolution, 'connect-failed', true);
  }

  located(x: Exchange, service: RuntimeService, target: RuntimeTarget, source: UpstreamSource): void {
    const { ip, port } = this.#addresses;
    if (x.trace?.stopsBefore({ host: target.host, ip, port }) === true) return;
    const now = monotonic();
    this.#records.begun(x, target, ip, port, now);
    const { policy } = x;
    if (policy !== null) {
      policy.begun(target);
      const { retries } = policy;
      if (retries !== null) policy.limitTry(retries.tryTimeout, now, () => this.guarded(x, () => this.#tryExpired(x)));
    }
    const link = source.take();
    this.#records.linked(x, target, link !== null);
    if (link === null) this.#connect(x, service, target, source);
    else this.#send(x, service, target, link, now);
  }

  #connect(x: Exchange, service: RuntimeService, target: RuntimeTarget, source: UpstreamSource): void {
    const serial = enter(x, State.connecting);
    x.trace?.connectBegins();
    source.connect(
      timeoutsOf(x).connect,
      (link) => {
        x.trace?.connectEnds();
        if (isCurrent(x, serial)) this.guarded(x, () => this.#send(x, service, target, link, monotonic()));
        else source.giveBack(link);
      },
      (error, cause) => {
        if (!isCurrent(x, serial)) return;
        x.failureCause = cause;
        this.guarded(x, () => this.#failed(x, error, connectResult(error), true));
      },
    );
  }

  #send(x: Exchange, service: RuntimeService, target: RuntimeTarget, link: UpstreamLink, now: number): void {
    enter(x, State.awaiting);
    sendRequest(x, service, target, link, now, this.#answers.options);
  }

  informational(x: Exchange, head: ParsedResponse): void {
    // The gateway has answered `Expect` itself.
    if (head.status !== 100) x.downstream.sendInformational(x, head.status, head.block);
  }

  responseHead(x: Exchange, head: ParsedResponse, now = monotonic()): void {
    x.firstByteMono = now;
    this.#records.answered(x, head.status);
    const pause = x.policy === null ? null : retryAfterAnswer(x, x.policy, head.status);
    if (pause !== null) {
      abandonLink(x);
      x.failAttempt(head.status);
      this.release(x);
      this.#retry(x, pause);
      return;
    }
    enter(x, State.answering);
    this.#answers.fromBackend(x, head, this);
  }

  responseBody(x: Exchange, bytes: Uint8Array, start: number, end: number): void {
    this.#answers.backendBody(x, bytes, start, end, this);
  }

  responseEnd(x: Exchange, trailers: string): void {
    this.release(x);
    this.#answers.backendEnd(x, trailers);
  }

  responseIdle(x: Exchange): void {
    x.downstream.flush(x);
  }

  upstreamDrained(x: Exchange): void {
    x.downstream.resumeBody(x);
  }

  upstreamFailed(x: Exchange, error: ErrorEntry, silent: boolean, reused: boolean): void {
    if (x.headSent) this.#end(x, error, null);
    else if (x.attemptState === State.answering) {
      this.#answers.abandonBuffered(x);
      this.unusable(x, error);
    } else if (silent && reused && isStale(x, error)) {
      // The backend had closed the kept link before it saw the request: not an attempt.
      if (x.policy !== null) reportStopped(x, x.policy, false);
      x.tries--;
      x.staleLinks++;
      this.release(x);
      this.#retry(x, 0);
    } else this.#failed(x, error, linkResult(error), silent && error === errors.upstreamRefused, !silent);
  }

  /** The attempt failed. `unsent`: the backend cannot have seen the request. `begun`: it had begun to answer. */
  #failed(x: Exchange, error: ErrorEntry, result: AttemptResult, unsent: boolean, begun = false): void {
    this.#records.failed(x, error, result, timeoutsOf(x));
    const pause = retryAfterFailure(x, error, result, unsent, begun);
    if (pause === null) this.#end(x, error, null);
    else this.#retry(x, pause);
  }

  /** Makes another attempt after `pause` milliseconds. */
  #retry(x: Exchange, pause: number): void {
    this.#records.retried();
    x.body?.detach(x);
    if (pause <= 0 || x.policy === null) {
      this.#addresses.search(x);
      return;
    }
    const serial = enter(x, State.pausing);
    x.policy.wait(pause, () => {
      if (isCurrent(x, serial)) this.guarded(x, () => this.#addresses.search(x));
    });
  }

  /** The timeout of one attempt. */
  #tryExpired(x: Exchange): void {
    if (x.finished || x.clientAborted || x.policy?.attemptOpen !== true) return;
    abandonLink(x);
    this.#failed(x, errors.firstByteTimeout, 'try-timeout', x.attemptState === State.connecting);
  }

  /** The timeout of the whole request. */
  #totalExpired(x: Exchange): void {
    if (x.finished || x.clientAborted) return;
    abandonLink(x);
    x.buffered = null;
    reportTotalTimeout(x);
    this.release(x);
    this.#end(x, errors.totalTimeout, null);
  }

  unusable(x: Exchange, error: ErrorEntry): void {
    this.#records.unusable(x, error);
    this.#end(x, error, null);
  }

  release(x: Exchange): void {
    this.#records.released(x);
  }

  /** The exchange is over, for whatever reason. */
  finished(x: Exchange): void {
    this.#end(x, null, null);
  }

  /** What follows: a plugin's reply, the answer to `error`, or nothing more: the exchange is over. */
  #end(x: Exchange, error: ErrorEntry | null, reply: Reply | null): void {
    enter(x, State.ended);
    if (reply !== null) this.#answers.fromPlugin(x, reply);
    else if (error === null) this.#over(x);
    else if (x.headSent) this.#answers.broken(x, error);
    else this.#answers.failed(x, error);
  }

  #over(x: Exchange): void {
    this.release(x);
    if (x.policy !== null) {
      reportStopped(x, x.policy, true);
      x.policy.close();
    }
    if (x.tap !== null) endTap(x, false);
    x.body?.discard();
  }

  /** For callbacks of the system, which have no caller that catches. */
  guarded(x: Exchange, step: () => void): void {
    try {
      step();
    } catch (error) {
      this.unexpected(x, error);
    }
  }

  close(): void {
    this.#pools.close();
  }
}
