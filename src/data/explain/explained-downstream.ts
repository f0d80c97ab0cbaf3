import { monotonic } from '../../shared/util/time/clock.ts';
import { answerExplanation } from '../answer/gateway-answer.ts';
import { responseLines } from '../answer/response-head.ts';
import type { Exchange } from '../request/exchange.ts';
import { abandonLink } from '../upstream/upstream-link.ts';
import { DebuggedDownstream, type DebugReport } from './debugged-downstream.ts';
import { explanation } from './document/document.ts';
import type { ExplainMode } from './explain-mode.ts';
import type { ExplainRecorder, HeldAttempt } from './explain-recorder.ts';
import type { Ending, SeenAnswer } from './explained.ts';

/** Maximum bytes that are kept of a body of the gateway's own. */
const maxKeptBytes = 4096;
/** Milliseconds that a response body may take before the explanation is sent without its end. */
const maxBodyTime = 10_000;

/**
 * Stands before the client of a request that has to be explained. The answer's body is dropped as it comes; when the answer is
 * complete, or could not be, the explanation is sent instead.
 */
export class ExplainedDownstream extends DebuggedDownstream {
  readonly #exchange: Exchange;
  readonly #recorder: ExplainRecorder;
  readonly #mode: ExplainMode;
  /** The original method of the request, which decides how it is answered. */
  readonly #method: string;
  #answer: SeenAnswer | null = null;
  #held: HeldAttempt | null = null;
  #timer: NodeJS.Timeout | null = null;
  #done = false;

  constructor(x: Exchange, mode: ExplainMode, recorder: ExplainRecorder, report: DebugReport) {
    super(x.downstream, report);
    this.#exchange = x;
    this.#recorder = recorder;
    this.#method = x.head.method;
    // A protocol upgrade cannot be explained.
    const upgrades = x.head.upgrade !== '';
    this.#mode = upgrades ? { ...mode, dry: true } : mode;
    if (mode.method !== null && this.#method === 'GET' && !upgrades) x.head.method = mode.method;
    if (this.#mode.dry) recorder.onHeld = (held) => this.#hold(held);
  }

  override sendHead(x: Exchange): void {
    x.headSent = true;
    const block = responseLines(x, this.report.options);
    this.#answer = {
      status: x.status,
      block,
      bytes: 0,
      beginning: '',
      trailers: '',
      ...(this.#mode.bodyBytes === 0 ? {} : { kept: { pieces: [], bytes: 0 } }),
      head: monotonic() - x.startedMono,
    };
    this.#timer = setTimeout(() => this.#bodyTimedOut(), maxBodyTime);
    this.#timer.unref();
  }

  override sendBody(x: Exchange, bytes: Uint8Array, start: number, end: number): boolean {
    const answer = this.#answer;
    if (answer === null) return true;
    answer.bytes += end - start;
    if (x.responseSource === 'gateway' && answer.bytes <= maxKeptBytes) {
      answer.beginning += Buffer.from(bytes.subarray(start, end)).toString('utf8');
    }
    if (answer.kept !== undefined) this.#keep(answer.kept, bytes, start, end);
    return true;
  }

  /** The beginning of the body, for an explanation that contains it. The bytes are in memory that is used again. */
  #keep(kept: NonNullable<SeenAnswer['kept']>, bytes: Uint8Array, start: number, end: number): void {
    const length = Math.min(end - start, this.#mode.bodyBytes - kept.bytes);
    if (length <= 0) return;
    kept.pieces.push(bytes.slice(start, start + length));
    kept.bytes += length;
  }

  override sendEnd(_x: Exchange, trailers: string): void {
    if (this.#answer !== null) this.#answer.trailers = trailers;
    this.#explain('complete');
  }

  override flush(): void {}

  override sendInformational(): void {}

  override abort(): void {
    this.#explain('broken');
  }

  /** The caller is still working on the attempt. */
  #hold(held: HeldAttempt): void {
    this.#held = held;
    queueMicrotask(() => this.#explain('held'));
  }

  #bodyTimedOut(): void {
    const x = this.#exchange;
    if (x.finished || x.clientAborted) return;
    abandonLink(x);
    this.#explain('endless');
  }

  #explain(ending: Ending): void {
    const x = this.#exchange;
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#done || x.finished || x.clientAborted) return;
    this.#done = true;
    try {
      x.context?.log('explained', this.#mode.dry ? 'dry' : 'carried out');
      const body = Buffer.from(`${JSON.stringify(this.#document(ending), null, 2)}\n`);
      const { client, report } = this;
      answerExplanation(x, { client, method: this.#method, lines: this.timingLines(x), body }, report.options);
    } catch (error) {
      this.report.log.error('explaining a request failed', { request_id: x.id, error });
      this.client.abort(x);
    }
  }

  #document(ending: Ending): Readonly<Record<string, unknown>> {
    const [x, mode, recorder] = [this.#exchange, this.#mode, this.#recorder];
    return explanation({ x, recorder, ending, mode, answer: this.#answer, held: this.#held });
  }
}
