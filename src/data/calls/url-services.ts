import { isIP } from 'node:net';
import { BoundedCache } from '../../shared/util/bounded-cache.ts';
import { hostHeader } from '../../shared/util/net/host-header.ts';
import type { RuntimeService, UpstreamTls } from '../snapshot/runtime.ts';

/** Maximum cached URLs; they come from configurations, so there are few. */
const maxUrls = 1000;
const noTimeouts = Object.freeze({ connect: 0, send: 0, firstByte: 0, idle: 0, total: 0 });

/** Backends that are named by a URL: services without an entity. */
export class UrlServices {
  readonly #services = new BoundedCache<string, RuntimeService>(maxUrls);
  readonly #tls: UpstreamTls;

  constructor(authorities: string | null) {
    const ca = authorities === null ? null : [authorities];
    this.#tls = { identity: 'by-url', verify: true, verifyDepth: null, ca, cert: null, key: null };
  }

  /** Null: not a URL that can be called. */
  get(url: string): RuntimeService | null {
    const known = this.#services.get(url);
    if (known !== undefined) return known;
    const created = this.#create(url);
    if (created !== null) this.#services.set(url, created);
    return created;
  }

  #create(text: string): RuntimeService | null {
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
      timeouts: noTimeouts,
      tags: [],
      upstream: null,
      target: { id: `url:${url.origin}`, host, ip, port, weight: 100, slot: 0 },
      hostHeader: hostHeader(protocol, host, port),
      tls: protocol === 'https' ? this.#tls : null,
      row: { protocol, host, port, path: url.pathname },
    };
  }
}
