import { hostname as machineName } from 'node:os';
import { plainError } from './http-error.ts';

/** What of a request tells who a browser is acting for. */
export interface RequestOrigin {
  readonly method: string;
  readonly origin: string | undefined;
  readonly host: string | undefined;
  /** Address of this side of the connection. */
  readonly localAddress: string | undefined;
}

export interface OriginPolicy {
  /** Throws 403 for a request that a foreign web page made a browser send. */
  check(request: RequestOrigin): void;
  /** Value of `Access-Control-Allow-Origin`, or null when a page of that origin may not read the answer. */
  allowOrigin(request: RequestOrigin): string | null;
}

interface OriginPolicyOptions {
  /** Origins of `admin_gui_url`; none: Kong's default, any origin. */
  readonly guiOrigins: readonly string[];
  /** A caller must show a token, which no foreign page has. */
  readonly tokenRequired: boolean;
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Without a token, every page that a person on this machine opens could talk to a loopback listener through their
 * browser: by a plain form post (no preflight), or by a name that is made to resolve to 127.0.0.1. So a foreign
 * `Origin` may neither change anything nor read, and a foreign `Host` on a loopback connection gets nothing.
 */
export function createOriginPolicy(options: OriginPolicyOptions): OriginPolicy {
  const { guiOrigins, tokenRequired } = options;

  function isTrusted(request: RequestOrigin): boolean {
    if (tokenRequired || request.origin === undefined) return true;
    if (guiOrigins.includes(request.origin)) return true;
    const origin = hostOf(request.origin);
    if (origin === null) return false;
    return isLoopbackName(origin) || origin === hostOf(`http://${request.host ?? ''}`);
  }

  return {
    check(request) {
      if (tokenRequired) return;
      if (isLoopbackAddress(request.localAddress) && !namesThisMachine(request.host)) {
        throw plainError(
          403,
          `Host '${request.host ?? ''}' is not a name of this machine; use localhost or set a token`,
        );
      }
      if (!safeMethods.has(request.method) && !isTrusted(request)) {
        throw plainError(403, `Origin '${request.origin}' may not change the configuration; see admin_gui_url`);
      }
    },
    allowOrigin(request) {
      if (guiOrigins.length > 0) {
        return request.origin !== undefined && guiOrigins.includes(request.origin) ? request.origin : guiOrigins[0]!;
      }
      if (request.origin === undefined) return '*';
      return isTrusted(request) ? request.origin : null;
    },
  };
}

function hostOf(origin: string): string | null {
  try {
    return new URL(origin).hostname.toLowerCase();
  } catch {
    return null;
  }
}

function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && (/^(?:::ffff:)?127\./.test(address) || address === '::1');
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || /^127\.\d+\.\d+\.\d+$/.test(name) || name === '[::1]';
}

/** Any IP address is fine: a page can be reached by a rebound name only, never by an address it does not own. */
function namesThisMachine(host: string | undefined): boolean {
  if (host === undefined || host === '') return true;
  const name = hostOf(`http://${host}`);
  if (name === null) return false;
  return isLoopbackName(name) || /^[\d.]+$/.test(name) || name.startsWith('[') || name === machineName().toLowerCase();
}
