import { type BackendAnswer, type BackendCall, CallFailed } from '../../plugin-sdk/calls.ts';
import type { RuntimeService } from '../../snapshot/runtime.ts';
import { monotonic } from '../../util/clock.ts';
import type { BackendCaller, Exchange } from '../exchange.ts';
import type { RequestProxy } from '../proxy.ts';
import { OpenCall } from './open-call.ts';
import { UrlServices } from './url-services.ts';

/** Carries the calls of plugins to backends: exchanges like those of clients, whose client is the plugin. */
export class BackendCalls implements BackendCaller {
  readonly #proxy: RequestProxy;
  readonly #urls: UrlServices;

  /** `authorities`: PEM to trust in servers that are called by URL; null: the built-in ones. */
  constructor(proxy: RequestProxy, authorities: string | null) {
    this.#proxy = proxy;
    this.#urls = new UrlServices(authorities);
  }

  call(x: Exchange, call: BackendCall): Promise<BackendAnswer> {
    if (call.detached !== true && (x.finished || x.clientAborted)) return Promise.reject(stopped());
    const service = this.#serviceOf(x, call);
    if (service === null) return Promise.reject(new CallFailed('no-service', 503, 'there is no such service'));
    return new Promise((resolve, reject) => {
      const open = new OpenCall(x, call, this.#proxy, resolve, reject);
      if (call.detached !== true) {
        // What the client waits for is the backends' time, as if the gateway had passed the request on.
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

function stopped(): CallFailed {
  return new CallFailed('stopped', 502, 'the request is over');
}
