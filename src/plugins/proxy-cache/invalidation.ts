import { type BackendAnswerContext, normalisePath } from '../../plugin-sdk/index.ts';
import type { Address } from './keys.ts';
import { type CacheParts, settled } from './parts.ts';
import { addressOf } from './request-facts.ts';

const safe: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/**
 * After a successful request that may have changed something, what is kept of its address is of no use any more, nor what is kept
 * of those that its answer names, when they are of the same origin (RFC 9111 4.4).
 */
export function invalidate(context: BackendAnswerContext, parts: CacheParts): void {
  const { request, response } = context;
  if (safe.has(request.method) || response.status < 200 || response.status >= 400) return;
  const target = addressOf(context);
  forget(target, parts);
  for (const name of ['location', 'content-location']) {
    const place = response.header(name);
    const other = place === null ? null : sameOrigin(place, target);
    if (other !== null) forget(other, parts);
  }
}

function forget(address: Address, parts: CacheParts): void {
  const key = parts.keys.key(address);
  settled(parts, () => parts.keeper.makeUseless(key, address));
}

/** The address of a reference, or null when it is of another origin or none at all. */
function sameOrigin(reference: string, target: Address): Address | null {
  const base = `${target.scheme}://${target.host}${target.path.startsWith('/') ? '' : '/'}`;
  let url: URL;
  let own: URL;
  try {
    own = new URL(base);
    url = new URL(reference, new URL(escaped(target.path), own));
  } catch {
    return null;
  }
  if (url.origin !== own.origin) return null;
  const path = normalisePath(url.pathname);
  return path === null ? null : { ...target, path, query: url.search.slice(1) };
}

function escaped(path: string): string {
  return path.replace(/[^\x21-\x7e]|[?#\\]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
