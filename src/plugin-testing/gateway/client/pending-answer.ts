import { type AnswerHead, NoAnswerError, type TestAnswer } from './contract.ts';

/** Real milliseconds after which a test waits no longer for an answer. */
const maxWait = 10_000;

/** The two promises of a running request, each settled once. */
export class PendingAnswer {
  readonly head = Promise.withResolvers<AnswerHead>();
  readonly answer = Promise.withResolvers<TestAnswer>();
  settled = false;
  readonly #timer: NodeJS.Timeout;
  readonly #ended: () => void;

  /** `ended` runs once, when nothing more is expected. `why` says what the gateway may be waiting for. */
  constructor(ended: () => void, why: () => string) {
    this.#ended = ended;
    this.head.promise.catch(() => {});
    this.answer.promise.catch(() => {});
    // It keeps the process alive until then: a test that waits for ever does not say why.
    this.#timer = setTimeout(() => this.failed(`no answer after ${maxWait / 1000} s${why()}`), maxWait);
  }

  begun(head: AnswerHead): void {
    this.head.resolve(head);
  }

  complete(answer: TestAnswer): void {
    this.answer.resolve(answer);
    this.#end();
  }

  failed(reason: string): void {
    const error = new NoAnswerError(reason);
    this.head.reject(error);
    this.answer.reject(error);
    this.#end();
  }

  #end(): void {
    if (this.settled) return;
    this.settled = true;
    clearTimeout(this.#timer);
    this.#ended();
  }
}
