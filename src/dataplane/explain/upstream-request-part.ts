import { maskedTarget } from '../masked-arguments.ts';
import { upstreamTarget } from '../request-message.ts';
import type { Explained } from './document.ts';

/** The request as a backend got it, or would have got it; null: it did not come to that. */
export function upstreamRequestPart({ x, held }: Explained): Readonly<Record<string, unknown>> | null {
  const { service, plan } = x;
  if (service === null || (x.upstreamUri === '' && held?.calledBy !== null)) return null;
  const uri = x.upstreamUri === '' ? upstreamTarget(x, service) : x.upstreamUri;
  return {
    method: x.upstreamMethod ?? x.head.method,
    uri: maskedTarget(uri, plan.secretArguments, plan.logMasks),
  };
}
