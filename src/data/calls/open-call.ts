import { type BackendAnswer, type BackendCall, CallFailed, type CallFailure } from '../../plugin-sdk/calls.ts';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { headerValues, withoutFields } from '../../shared/http/header-block.ts';
import { ByteCollector } from '../../shared/util/bytes/byte-collector.ts';
import { contentCodings, decodeContent, supportsCodings } from '../../shared/util/bytes/content-coding.ts';
import type { Attempts } from '../attempt/attempts.ts';
import type { Cancellable, Downstream, Exchange } from '../request/exchange.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';
import { abandonLink } from '../upstream/upstream-link.ts';
import { CallAnswer } from './call-answer.ts';
import { callExchange } from './call-exchange.ts';

/** One call in progress: the client's side of its exchange. */
export class OpenCall implements Downstream, Cancellable {
  readonly bodyComplete = true;
  readonly #parent: Exchange;
  readonly #call: BackendCall;
  readonly #attempts: Attempts;
  readonly #resolve: (answer: BackendAnswer) => void;
  readonly #reject: (error: Error) => void;
  readonly #bytes = new ByteCollector();
  #exchange: Exchange | null = null;
  #settled = false;

  constructor(
    parent: Exchange,
    call: BackendCall,
    attempts: Attempts,
    resolve: (answer: BackendAnswer) => void,
    reject: (error: Error) => void,
  ) {
    this.#parent = parent;
    this.#call = call;
    this.#attempts = attempts;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(service: RuntimeService): void {
    try {
      const x = callExchange(this.#parent, this.#call, service, this);
      this.#exchange = x;
      this.#attempts.start(x);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  cancel(): void {
    this.#fail(new CallFailed('stopped', 502, 'the request is over'));
  }

  // Downstream

  sendHead(x: Exchange): void {
    x.headSent = true;
  }

  sendBody(x: Exchange, bytes: Uint8Array, start: number, end: number): boolean {
    // The body of the gateway's own error adds nothing to the exchange.
    if (x.responseSource === 'gateway' || this.#settled) return true;
    const growth = this.#bytes.growth(end - start);
    if (this.#bytes.size + end - start > this.#call.maxBytes) {
      this.#fail(new CallFailed('too-large', 502, `the answer is larger than ${this.#call.maxBytes} bytes`));
    } else if (growth > 0 && !this.#reserve(x, growth)) {
      this.#fail(new CallFailed('too-large', 503, 'there is no memory for the answer'));
    } else this.#bytes.push(bytes, start, end);
    return true;
  }

  sendEnd(x: Exchange): void {
    if (this.#settled) return;
    if (x.responseSource === 'gateway') this.#fail(failureOf(x.error ?? errors.unexpected));
    else this.#answered(x);
  }

  abort(): void {
    this.#fail(new CallFailed('bad-answer', 502, 'the answer broke off'));
  }

  flush(): void {}
  sendInformational(): void {}
  startBody(): void {}
  limitBody(): void {}
  pauseBody(): void {}
  resumeBody(): void {}
  startTunnel(): void {
    this.#fail(new CallFailed('bad-answer', 502, 'the backend changed the protocol'));
  }

  #answered(x: Exchange): void {
    this.#end();
    const body = this.#bytes.take();
    const block = x.responseBlock;
    const codings = contentCodings(headerValues(block, 'content-encoding'));
    if (this.#call.keepCoding === true || codings.length === 0 || !supportsCodings(codings)) {
      this.#resolve(new CallAnswer(x.status, block, body));
      return;
    }
    const plain = withoutFields(block, codingField);
    Promise.resolve()
      .then(() => decodeContent(body, codings, this.#call.maxBytes, this.#parent.clientIp))
      .then(
        (decoded) => this.#resolve(new CallAnswer(x.status, plain, decoded)),
        () =>
          this.#reject(
            new CallFailed(
              'bad-answer',
              502,
              'the content coding of the answer is broken or too large, or too many wait',
            ),
          ),
      );
  }

  /** The response belongs to the request that it is collected for; to the call where that request is over. */
  #reserve(x: Exchange, bytes: number): boolean {
    const holder = this.#call.detached === true ? x : this.#parent;
    return x.peer.bodies?.reserve(holder, bytes) !== false;
  }

  #fail(error: Error): void {
    if (this.#settled) return;
    const x = this.#exchange;
    this.#end();
    if (x !== null) {
      x.clientAborted = true;
      abandonLink(x);
    }
    this.#reject(error);
  }

  #end(): void {
    this.#settled = true;
    this.#parent.calls?.delete(this);
    const x = this.#exchange;
    if (x === null) return;
    x.finished = true;
    x.peer.bodies?.release(x);
    this.#attempts.finished(x);
  }
}

const codingField: ReadonlySet<string> = new Set(['content-encoding']);

function failureOf(error: ErrorEntry): CallFailed {
  const { status } = error;
  return new CallFailed(reasonOf(error), status >= 502 && status <= 504 ? status : 502, error.message);
}

function reasonOf(error: ErrorEntry): CallFailure {
  if (error.status === 504) return 'timeout';
  if (error === errors.noTarget) return 'no-target';
  return error === errors.connectFailed || error === errors.nameResolution ? 'unreachable' : 'bad-answer';
}
