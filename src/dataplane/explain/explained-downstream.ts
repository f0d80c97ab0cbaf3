import { monotonic } from '../../util/clock.ts';
import type { Exchange } from '../exchange.ts';
import { gatewayBlock, responseLines } from '../response-head.ts';
import { DebuggedDownstream, type Told } from './debugged-downstream.ts';
import { explanation } from './document.ts';
import type { ExplainMode } from './explain-mode.ts';
import type { ExplainRecorder, HeldAttempt } from './explain-recorder.ts';

/** What is known of the answer that an explanation stands in for. */
export interface SeenAnswer {
  readonly status: number;
  /** Header lines as the client would have got them. */
  readonly block: string;
  bytes: number;
  /** The beginning of a body that the gateway itself has made; of others nothing is kept. */
  beginning: string;
  trailers: string;
  /** Milliseconds from the start of the request to the head. */
  readonly head: number;
}

/** How the request ended: `complete`: its answer was whole; `held`: no backend was to be contacted. */
export type Ending = 'complete' | 'broken' | 'endless' | 'held';

/** Bytes of a body of the gateway's own that are kept. */
const mostKept = 4096;
/** Milliseconds that an answer's body may take before the explanation is given without its end. */
const longestBody = 10_000;

/**
 * Stands before the client of a request that is to be explained. The answer's body is dropped as it comes; when the answer is
 * complete, or could not be, the explanation is sent in its place.
 */
export class ExplainedDownstream extends DebuggedDownstream {
  readonly #exchange: Exchange;
  readonly #recorder: ExplainRecorder;
  readonly #mode: ExplainMode;
  /** Of the request as it came, which decides how it is answered. */
  readonly #method: string;
  #answer: SeenAnswer | null = null;
  #held: HeldAttempt | null = null;
  #timer: NodeJS.Timeout | null = null;
  #done = false;

  constructor(x: Exchange, mode: ExplainMode, recorder: ExplainRecorder, told: Told) {
    super(x.downstream, told);
    this.#exchange = x;
    this.#recorder = recorder;
    this.#method = x.head.method;
    // A protocol that the client changes to is not to be explained.
    const upgrades = x.head.upgrade !== '';
    this.#mode = upgrades ? { ...mode, dry: true } : mode;
    if (mode.method !== null && this.#method === 'GET' && !upgrades) x.head.method = mode.method;
    if (this.#mode.dry) recorder.onHeld = (held) => this.#hold(held);
  }

  override sendHead(x: Exchange): void {
    x.headSent = true;
    const block = responseLines(x, this.told.options);
    this.#answer = {
      status: x.status,
      block,
      bytes: 0,
      beginning: '',
      trailers: '',
      head: monotonic() - x.startedMono,
    };
    this.#timer = setTimeout(() => this.#endless(), longestBody);
    this.#timer.unref();
  }

  override sendBody(x: Exchange, bytes: Uint8Array, start: number, end: number): boolean {
    const answer = this.#answer;
    if (answer === null) return true;
    answer.bytes += end - start;
    if (x.responseSource === 'gateway' && answer.bytes <= mostKept) {
      answer.beginning += Buffer.from(bytes.subarray(start, end)).toString('utf8');
    }
    return true;
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

  /** What called this is still at work on the attempt. */
  #hold(held: HeldAttempt): void {
    this.#held = held;
    queueMicrotask(() => this.#explain('held'));
  }

  #endless(): void {
    const x = this.#exchange;
    if (x.finished || x.clientAborted) return;
    x.upstream?.destroy();
    x.upstream = null;
    this.#explain('endless');
  }

  #explain(ending: Ending): void {
    const x = this.#exchange;
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#done || x.finished || x.clientAborted) return;
    this.#done = true;
    try {
      x.context?.log('explained', this.#mode.dry ? 'dry' : 'carried out');
      this.#send(x, Buffer.from(`${JSON.stringify(this.#document(ending), null, 2)}\n`));
    } catch (error) {
      this.told.log.error('a request cannot be explained', { request_id: x.id, error });
      this.client.abort(x);
    }
  }

  #document(ending: Ending): Readonly<Record<string, unknown>> {
    const [x, mode, recorder] = [this.#exchange, this.#mode, this.#recorder];
    return explanation({ x, recorder, ending, mode, answer: this.#answer, held: this.#held });
  }

  /** The exchange is what it was again before it ends: logs tell of the request that was explained. */
  #send(x: Exchange, body: Buffer): void {
    const { status, reason, responseBlock, responseEdits } = x;
    const { method } = x.head;
    x.downstream = this.client;
    x.head.method = this.#method;
    // Within a CONNECT that opens a WebSocket any 2xx would say that it stands (RFC 8441 5).
    x.status = x.head.httpVersion !== '2' || x.head.upgrade === '' ? 200 : 501;
    x.reason = '';
    x.responseEdits = null;
    x.responseBlock = gatewayBlock(this.told.options) + explanationLines + this.timingLines(x);
    this.client.sendHead(x, body.byteLength);
    x.head.method = method;
    if (status > 0) {
      x.status = status;
      x.reason = reason;
      x.responseBlock = responseBlock;
      x.responseEdits = responseEdits;
    }
    this.client.sendBody(x, body, 0, body.byteLength);
    this.client.sendEnd(x, '');
  }
}

/** It is of one moment and of one client. */
const explanationLines =
  'Content-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n';
