import { type ErrorEntry, errors } from '../../shared/errors.ts';
import type { RawRequest } from '../../shared/traffic/raw-request.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import type { Answers } from '../answer/answer.ts';
import { upstreamTarget } from '../attempt/request-message.ts';
import { ParsedResponse } from '../http1/parse-response.ts';
import { bodyReaders } from '../plugin-runner/phases.ts';
import type { Exchange } from '../request/exchange.ts';
import type { RequestAttempts } from '../request/handle-request.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';

/** The status that plugins see of a backend whose answer is not known. */
const assumed = 200;
const byCode = new Map<string, ErrorEntry>(Object.values(errors).map((error) => [error.code, error]));

/** What the backend of a request did, and where the request went then; null: that is not known. */
export interface KnownAnswer {
  readonly raw: Pick<RawRequest, 'backendStatus' | 'error'>;
  readonly sentTo: string | null;
}

/** What would have been sent, and the answer. */
export interface DryAttempt {
  readonly sentTo: string;
  /** The backend as the service names it. */
  readonly backend: string;
  /** Null: not known. */
  readonly status: number | null;
  /** The instances that would read the body of the answer. */
  readonly readers: readonly { readonly id: string; readonly name: string }[];
}

/** Answers instead of a backend: as the recorded backend did, if the request would go to the same place. */
export class DryBackend implements RequestAttempts {
  /** Of the current request; null: no backend would receive it. */
  attempt: DryAttempt | null = null;
  known: KnownAnswer = { raw: { backendStatus: 0, error: null }, sentTo: null };
  readonly #answers: Answers;

  constructor(answers: Answers) {
    this.#answers = answers;
  }

  start(x: Exchange): void {
    const service = x.service as RuntimeService;
    const upstream = x.policy?.upstream ?? service.upstream;
    if (upstream !== null && upstream.targets.length === 0) {
      x.balanced = upstream;
      this.#answers.failed(x, errors.noTarget);
      return;
    }
    const backend = `${service.host}:${service.port}`;
    const method = x.upstreamMethod ?? x.head.method;
    const place = upstream === null ? `${service.protocol}://${backend}` : `${service.protocol}://${upstream.name}`;
    const sentTo = `${method} ${place}${upstreamTarget(x, service)}`;
    const { raw, sentTo: before } = this.known;
    const same = before === null || before === sentTo;
    const failure = same && raw.error !== null ? byCode.get(raw.error) : undefined;
    const status = same && raw.backendStatus > 0 ? raw.backendStatus : null;
    x.upstreamStartedMono = monotonic();
    x.tries = 1;
    x.targetIp = service.host;
    x.targetPort = service.port;
    x.trace?.attemptBegins({ try: 1, ip: service.host, port: service.port, host: service.host, pooled: false });
    if (failure !== undefined && failure.source === 'upstream') {
      this.attempt = { sentTo, backend, status: failure.status, readers: [] };
      x.trace?.attemptIs({ failed: true, status: failure.status, cause: failure.code });
      x.trace?.attemptEnds();
      this.#answers.failed(x, failure);
      return;
    }
    x.trace?.attemptIs({ status: status ?? assumed });
    x.trace?.attemptEnds();
    this.#answer(x, { sentTo, backend, status, readers: [] });
  }

  /** The body of the answer is not recorded: plugins that would read it do not run. */
  #answer(x: Exchange, attempt: DryAttempt): void {
    x.firstByteMono = monotonic();
    x.status = attempt.status ?? assumed;
    x.upstreamStatus = x.status;
    x.responseSource = 'upstream';
    const limited = x.plan.responseBodyLimit > 0 && bodyReaders(x).limit > 0;
    const readers = limited ? x.plan.response.map(({ id, name }) => ({ id, name })) : [];
    this.attempt = { ...attempt, readers };
    if (limited || x.status === 101) {
      x.downstream.sendHead(x, 0);
      x.downstream.sendEnd(x, '');
      return;
    }
    const head = new ParsedResponse();
    head.status = x.status;
    head.bodyLength = 0;
    this.#answers.fromBackend(x, head, this);
    this.#answers.backendEnd(x, '');
  }

  finished(x: Exchange): void {
    x.policy?.close();
  }

  release(): void {}
  unusable(x: Exchange, error: ErrorEntry): void {
    this.#answers.failed(x, error);
  }
}
