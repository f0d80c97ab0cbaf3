import type { RequestMeasures } from '../plugin-sdk/request-views.ts';
import { monotonic } from '../util/clock.ts';
import type { Exchange } from './exchange.ts';
import { requestBytes, responseBytes } from './log-record.ts';

/** What was measured of a finished exchange; its end is when this is made. */
export class ExchangeMeasures implements RequestMeasures {
  readonly #exchange: Exchange;
  readonly #ended: number;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.#ended = monotonic();
  }

  get startedAt(): number {
    return this.#exchange.startedAt;
  }

  get total(): number {
    return this.#ended - this.#exchange.startedMono;
  }

  get gateway(): number {
    const { upstreamStartedMono, startedMono } = this.#exchange;
    return (upstreamStartedMono > 0 ? upstreamStartedMono : this.#ended) - startedMono;
  }

  get upstream(): number {
    const { upstreamStartedMono, firstByteMono } = this.#exchange;
    if (upstreamStartedMono === 0) return -1;
    return (firstByteMono > 0 ? firstByteMono : this.#ended) - upstreamStartedMono;
  }

  get receive(): number {
    const { firstByteMono } = this.#exchange;
    return firstByteMono > 0 ? this.#ended - firstByteMono : 0;
  }

  get bytesReceived(): number {
    return requestBytes(this.#exchange);
  }

  get bytesSent(): number {
    return responseBytes(this.#exchange);
  }

  get upstreamStatus(): number {
    return this.#exchange.upstreamStatus;
  }

  get tries(): number {
    return this.#exchange.tries;
  }

  get aborted(): boolean {
    return this.#exchange.clientAborted;
  }
}
