import { nodeHttp } from '../../../shared/util/node-http.ts';
import { type AdminRoute, allowedMethods } from './admin-route.ts';
import { type HttpError, methodNotAllowed, notFound, notImplemented } from './http-error.ts';

const known = new Set(nodeHttp.METHODS);

/** The answer to a method that no route of the Admin API has. */
export function noRouteError(method: string, url: string, routes: readonly AdminRoute[]): HttpError {
  const path = url.replace(/[?#].*$/s, '').replace(/(.)\/$/, '$1');
  const segments = path.split('/');
  const matches = routes.filter((route) => matchesPath(route.path.split('/'), segments));
  // A literal segment takes precedence over a parameter.
  const [route] = matches.sort((a, b) => parameters(a) - parameters(b));
  if (route === undefined) return notFound();
  return known.has(method) ? methodNotAllowed(allowedMethods(route)) : notImplemented();
}

function matchesPath(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, i) => (part.startsWith('{') ? segments[i] !== '' : part === segments[i]))
  );
}

function parameters({ path }: AdminRoute): number {
  return path.split('{').length;
}
