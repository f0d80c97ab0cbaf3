import type { Undecided } from '../../shared/messages/dry-run.ts';
import type { Downstream, Exchange } from '../request/exchange.ts';

export interface DryClientEvents {
  /** The answer is complete, or broken off. */
  readonly ended: (x: Exchange) => void;
  readonly undecided: (undecided: Undecided) => void;
}

/** The client of a repeated request: it has no socket, and nothing reads what it receives. */
export class DryClient implements Downstream {
  readonly bodyComplete = true;
  readonly #events: DryClientEvents;

  constructor(events: DryClientEvents) {
    this.#events = events;
  }

  sendHead(x: Exchange): void {
    x.headSent = true;
  }

  sendBody(x: Exchange, _bytes: Uint8Array, start: number, end: number): boolean {
    x.bytesSent += end - start;
    return true;
  }

  sendEnd(x: Exchange): void {
    this.#end(x);
  }

  abort(x: Exchange): void {
    x.clientAborted = true;
    this.#end(x);
  }

  /** A plugin reads the body. */
  startBody(x: Exchange): void {
    const reader = x.plan.all.find(({ needs }) => needs.requestBody !== undefined);
    const plugin = x.plan.access[x.accessAt]?.name ?? reader?.name ?? null;
    this.#events.undecided({ reason: 'It depends on the body of the request, which is not recorded.', plugin });
  }

  /** A plugin limits a body of undeclared length. */
  limitBody(x: Exchange): void {
    const plugin = x.plan.access[x.accessAt]?.name ?? null;
    this.#events.undecided({
      reason: 'It depends on the size of the body, which the request does not declare.',
      plugin,
    });
  }

  flush(): void {}
  sendInformational(): void {}
  pauseBody(): void {}
  resumeBody(): void {}
  startTunnel(): void {}

  #end(x: Exchange): void {
    if (x.finished) return;
    x.finished = true;
    this.#events.ended(x);
  }
}
