import { composeUpstreamPath, escapePath } from '../../router/path.ts';
import type { Exchange } from '../exchange.ts';
import { maskedTarget } from '../masked-arguments.ts';
import type { Explained } from './document.ts';

/** The request as a backend got it, or would have got it; null: it did not come to that. */
export function upstreamRequestPart({ x, held }: Explained): Readonly<Record<string, unknown>> | null {
  if (x.service === null || (x.upstreamUri === '' && held?.calledBy !== null)) return null;
  const uri = x.upstreamUri === '' ? composed(x) : x.upstreamUri;
  return {
    method: x.upstreamMethod ?? x.head.method,
    uri: maskedTarget(uri, x.plan.secretArguments, x.plan.logMasks),
  };
}

/** As `requestMessage` writes it. */
function composed(x: Exchange): string {
  const { service, route, head } = x;
  const own = x.pathInService === null;
  const path =
    x.upstreamPath === null
      ? composeUpstreamPath(
          service?.path ?? null,
          own && route?.stripPath === true,
          own ? x.matchedPath : '',
          x.pathInService ?? x.path,
        )
      : escapePath(x.upstreamPath);
  const query = x.upstreamQuery ?? head.query;
  return query === '' ? path : `${path}?${query}`;
}
