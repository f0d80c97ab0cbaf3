import type { Row } from '../../../shared/entities/entity.ts';
import { texts } from '../../../shared/entities/row-fields.ts';
import { routePath } from '../plan/route-path.ts';

/** The route that carries an operation: one with its exact path, or else with the longest prefix of it. Null: none of these. */
export function routeOfOperation(
  routes: readonly Row[],
  { method, path }: { readonly method: string; readonly path: string },
): Row | null {
  const exact = routePath(path);
  const plain = path.replace(/\{.*$/s, '');
  let best: Row | null = null;
  let length = -1;
  for (const route of routes) {
    const methods = texts(route, 'methods') ?? [];
    if (methods.length > 0 && !methods.includes(method)) continue;
    const paths = texts(route, 'paths') ?? [];
    if (paths.includes(exact)) return route;
    for (const prefix of paths.length === 0 ? ['/'] : paths) {
      if (prefix.startsWith('~') || !plain.startsWith(prefix) || prefix.length <= length) continue;
      best = route;
      length = prefix.length;
    }
  }
  return best;
}
