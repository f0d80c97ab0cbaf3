import { hostname as machineName } from 'node:os';
import { plainError } from './http-error.ts';

/** The parts of a request that show for which page a browser acts. */
export interface RequestOrigin {
  readonly method: string;
  readonly scheme: 'http' | 'https';
  readonly origin: string | undefined;
  readonly host: string | undefined;
  /** Address of this side of the connection. */
  readonly localAddress: string | undefined;
  /** `Sec-Fetch-Site`: the browser's statement of how the page's site relates to this API. */
  readonly fetchSite: string | undefined;
}

export interface OriginPolicy {
  /** Throws 403 for a request that a foreign web page may have made a browser send. For requests without a token. */
  check(request: RequestOrigin): void;
  /** Throws 403 for a request of a foreign page, whatever its method. */
  checkPage(request: RequestOrigin): void;
  /**
   * Value of `Access-Control-Allow-Origin`, or null when a page of that origin may not read the answer. `token`: the request has a valid
   * token, or would need one.
   */
  allowOrigin(request: RequestOrigin, token: boolean): string | null;
}

export interface OriginPolicyOptions {
  /** Origins of `admin_gui_url`: their pages may read and write. */
  readonly guiOrigins: readonly string[];
  /** Names by which clients reach the API, in lower case; `*.` matches one label or more. */
  readonly hosts: readonly string[];
  /** Which local addresses require a `Host` that names the gateway. */
  readonly hostCheck: 'all' | 'loopback';
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);
const ownSites = new Set(['same-origin', 'none']);

/**
 * No foreign page has a token. Without one, and with a client certificate, which browsers add by themselves, any page open in a browser that
 * can reach the API could send it requests: by a plain form post, which needs no preflight, or under a name that its owner makes resolve to the API's address (DNS rebinding). So a
 * foreign `Origin` may neither read nor write, and a `Host` that does not name the gateway is refused.
 * Origins are compared with scheme and port: what the proxy serves on its port is not part of the Admin API.
 */
export function createOriginPolicy(options: OriginPolicyOptions): OriginPolicy {
  const { guiOrigins, hosts, hostCheck } = options;
  const names = [...hosts, machineName().toLowerCase()];

  function isTrusted({ origin, scheme, host, fetchSite }: RequestOrigin): boolean {
    // Browsers omit `Origin` from some posts; tools send neither header.
    if (origin === undefined) return fetchSite === undefined || ownSites.has(fetchSite);
    if (guiOrigins.includes(origin)) return true;
    const own = originOf(`${scheme}://${host ?? ''}`);
    return own !== null && originOf(origin) === own;
  }

  return {
    check(request) {
      const checked = hostCheck === 'all' || isLoopbackAddress(request.localAddress);
      if (checked && !namesTheGateway(request.host, names)) throw foreignHost(request.host);
      if (!safeMethods.has(request.method) && !isTrusted(request)) throw foreignOrigin(request.origin);
    },
    checkPage(request) {
      if (!isTrusted(request)) throw foreignOrigin(request.origin, 'may not view events');
    },
    allowOrigin(request, token) {
      if (guiOrigins.length > 0) {
        return request.origin !== undefined && guiOrigins.includes(request.origin) ? request.origin : guiOrigins[0]!;
      }
      if (request.origin === undefined) return '*';
      return token || isTrusted(request) ? request.origin : null;
    },
  };
}

function foreignHost(host: string | undefined) {
  return plainError(
    403,
    `Host '${quoted(host)}' is not a name of this gateway: add the name to admin_hosts (SLUICEGATE_ADMIN_HOSTS), ` +
      'use localhost or an IP address, or set SLUICEGATE_ADMIN_TOKEN',
  );
}

function foreignOrigin(origin: string | undefined, refusal = 'may not change the configuration') {
  const who = origin === undefined ? 'A page of another site' : `Origin '${quoted(origin)}'`;
  return plainError(
    403,
    `${who} ${refusal}: add its origin to admin_gui_url (SLUICEGATE_ADMIN_GUI_URL), or set SLUICEGATE_ADMIN_TOKEN`,
  );
}

function quoted(text: string | undefined): string {
  return (text ?? '').slice(0, 300);
}

/** Scheme, host and port; null for what has none, such as the origin `null`. */
function originOf(url: string): string | null {
  const origin = URL.parse(url)?.origin ?? 'null';
  return origin === 'null' ? null : origin;
}

function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && (/^(?:::ffff:)?127\./.test(address) || address === '::1');
}

/**
 * True for hosts that DNS rebinding cannot use: an address, which does not resolve, this
 * machine, and a name without a dot (`http://kong:8001`), which cannot be registered.
 */
function namesTheGateway(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined || host === '') return true;
  const name = URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '');
  if (name === undefined || name === '') return false;
  if (!name.includes('.') || name.endsWith('.localhost') || /^\d+\.\d+\.\d+\.\d+$/.test(name)) return true;
  return names.some((known) => (known.startsWith('*.') ? name.endsWith(known.slice(1)) : name === known));
}
