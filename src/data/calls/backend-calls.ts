import { type BackendAnswer, type BackendCall, CallFailed } from '../../plugin-sdk/calls.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import type { Attempts } from '../attempt/attempts.ts';
import type { BackendCaller, Cancellable, Exchange } from '../request/exchange.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';
import { OpenCall } from './open-call.ts';
import { UrlServices } from './url-services.ts';

/** Sends the calls of plugins to backends: exchanges like those of clients, with the plugin as the client. */
export class BackendCalls implements BackendCaller {
  readonly #attempts: Attempts;
  readonly #urls: UrlServices;

  /** `authorities`: PEM to trust in servers that are called by URL; null: the built-in ones. */
  constructor(attempts: Attempts, authorities: string | null) {
    this.#attempts = attempts;
    this.#urls = new UrlServices(authorities);
  }

  call(x: Exchange, call: BackendCall): Promise<BackendAnswer> {
    if (call.detached !== true && (x.finished || x.clientAborted)) return Promise.reject(stopped());
    const service = this.#serviceOf(x, call);
    if (service === null) return Promise.reject(new CallFailed('no-service', 503, 'there is no such service'));
    return new Promise((resolve, reject) => {
      const open = new OpenCall(x, call, this.#attempts, resolve, reject);
      if (call.detached !== true) {
        // The time that the client waits for counts as upstream time, as if the gateway had proxied the request.
        if (x.upstreamStartedMono === 0) x.upstreamStartedMono = monotonic();
        x.calls ??= new Set();
        x.calls.add(open);
      }
      open.start(service);
    });
  }

  #serviceOf(x: Exchange, { to }: BackendCall): RuntimeService | null {
    if (to === undefined) return x.service;
    return 'service' in to ? x.snapshot.service(to.service) : this.#urls.get(to.url);
  }
}

/** The request that the calls were made for is over. */
export function cancelCalls(calls: Set<Cancellable>): void {
  if (calls.size === 0) return;
  const all = [...calls];
  calls.clear();
  for (const call of all) call.cancel();
}

function stopped(): CallFailed {
  return new CallFailed('stopped', 502, 'the request is over');
}
