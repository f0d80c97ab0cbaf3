import type { ExplainedRequest } from '../../../../shared/explain/explained-request.ts';
import { ownListener, reachableHost } from '../../../../shared/explain/own-listener.ts';
import {
  type ExplainedAnswer,
  type ExplainingEndpoint,
  sendExplained,
} from '../../../../shared/explain/send-explained.ts';
import type { Settings } from '../../../../shared/settings/settings.ts';
import { clientGroup, FairQueue, overloaded } from '../../../../shared/util/time/fair-queue.ts';
import type { Caller } from '../../access/caller.ts';
import { HttpError, plainError } from '../../http/http-error.ts';

/** Milliseconds. */
const defaultDeadline = 30_000;
/** Bytes of the answer's body that are shown. */
const maxShownBody = 262_144;
/** Maximum bytes of an explanation with that body in base64. */
const maxAnswer = 16 * 1024 * 1024;

/** The request was sent, and its outcome is unknown. */
export interface Unanswered {
  readonly problem: string;
}

/** Codes of errors before anything was sent. */
const unsent = /^(?:ECONNREFUSED|EADDRNOTAVAIL|EMFILE|ENFILE|ERR_)/;

export interface ExplainSenderOptions {
  readonly settings: Pick<Settings, 'proxyListen'>;
  /** The debug token. */
  readonly token: string;
  /** Proves to the workers that this process sends the request. */
  readonly requestKey: string;
  /** Aborted when the node stops. */
  readonly closing: AbortSignal;
  /** Milliseconds for the whole answer. Default: 30 s. */
  readonly deadline?: number;
}

/** Sends requests of callers of the Admin API to this node's own proxy listeners, and never to another address. */
export class ExplainSender {
  readonly #options: ExplainSenderOptions;
  readonly #queue = new FairQueue({ concurrency: 8, concurrencyPerGroup: 2, maxWaiting: 64, maxWaitingPerGroup: 8 });

  constructor(options: ExplainSenderOptions) {
    this.#options = options;
    options.closing.addEventListener('abort', () => this.#queue.close());
  }

  /**
   * Carries the request out for a caller at that address, which becomes the client's: a rule that admits only the node itself does
   * not admit the users of its Admin API. Throws what refuses the request before it is sent: 400 without a
   * listener, 503 when there are too many or the listener is unreachable.
   */
  async send(request: ExplainedRequest, caller: Caller, client: string): Promise<ExplainedAnswer | Unanswered> {
    const { requestKey, closing, deadline = defaultDeadline } = this.#options;
    const endpoint = this.#endpoint(request.secure);
    const parameters = `; body=${maxShownBody}; caller=${client}; key=${requestKey}`;
    const result = await this.#queue.run(caller.userId ?? clientGroup(client), async () => {
      const late = AbortSignal.timeout(deadline);
      const signal = AbortSignal.any([late, closing]);
      try {
        return await sendExplained(request, endpoint, { parameters, idleTimeout: deadline, maxAnswer, signal });
      } catch (error) {
        const { code } = Object(error) as { readonly code?: unknown };
        const named = typeof code === 'string' ? ` (${code})` : '';
        if (late.aborted) return { problem: `no answer within ${deadline / 1000} seconds` };
        if (typeof code === 'string' && unsent.test(code)) throw plainError(503, `no proxy listener to reach${named}`);
        // The error's own text is not shown: nothing guarantees what is in it.
        return { problem: `the connection to the proxy listener was lost${named}` };
      }
    });
    if (result !== overloaded) return result;
    throw new HttpError(503, { message: 'too many requests are being explained' }, { 'retry-after': '1' });
  }

  #endpoint(secure: boolean): ExplainingEndpoint {
    const listener = ownListener(this.#options.settings.proxyListen, secure);
    if (listener === null) {
      const kind = secure ? ' with TLS' : '';
      throw plainError(400, `this node has no proxy listener${kind} that takes requests without the PROXY protocol`);
    }
    const { ip, port, ssl } = listener;
    // It is the node itself; its certificate may be for any name.
    return { host: reachableHost(ip), port, secure: ssl, verify: false, token: this.#options.token };
  }
}
