import { loadNow } from '../../plugin-kit/runtime/load-now.ts';

type Sessions = typeof import('./upstream-sessions.ts');

let loaded: Sessions | null = null;

/**
 * HTTP/2 towards backends, loaded by the first service that speaks it. Called when such a service is built, so that no request waits for
 * it.
 */
export function loadUpstreamSessions(): Sessions {
  loaded ??= loadNow<Sessions>(import.meta.url, './upstream-sessions.ts');
  return loaded;
}
