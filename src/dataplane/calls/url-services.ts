import { isIP } from 'node:net';
import type { RuntimeService, UpstreamTls } from '../../snapshot/runtime.ts';
import { BoundedCache } from '../../util/bounded-cache.ts';
import { hostHeader } from '../../util/host-header.ts';

/** URLs that are remembered; they come from configurations, so there are few. */
const mostUrls = 1000;
const noTimes = Object.freeze({ connect: 0, send: 0, firstByte: 0, idle: 0, total: 0 });

/** Backends that are named by a URL: services without an entity. */
export class UrlServices {
  readonly #known = new BoundedCache<string, RuntimeService>(mostUrls);
  readonly #tls: UpstreamTls;

  constructor(authorities: string | null) {
    const ca = authorities === null ? null : [authorities];
    this.#tls = { identity: 'by-url', verify: true, verifyDepth: null, ca, cert: null, key: null };
  }

  /** Null: it is not a URL that can be called. */
  get(url: string): RuntimeService | null {
    const known = this.#known.get(url);
    if (known !== undefined) return known;
    const made = this.#make(url);
    if (made !== null) this.#known.set(url, made);
    return made;
  }

  #make(text: string): RuntimeService | null {
    const url = URL.parse(text);
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
    const protocol = url.protocol === 'https:' ? 'https' : 'http';
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const port = url.port === '' ? (protocol === 'https' ? 443 : 80) : Number(url.port);
    const ip = isIP(host) === 0 ? null : host;
    return {
      id: `url:${url.origin}`,
      name: null,
      protocol,
      http2: false,
      host,
      port,
      path: url.pathname,
      retries: 0,
      timeouts: noTimes,
      tags: [],
      upstream: null,
      target: { id: `url:${url.origin}`, host, ip, port, weight: 100, slot: 0 },
      hostHeader: hostHeader(protocol, host, port),
      tls: protocol === 'https' ? this.#tls : null,
      row: { protocol, host, port, path: url.pathname },
    };
  }
}
