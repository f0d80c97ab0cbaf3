import { maskedTarget } from '../../../shared/logs/masked-arguments.ts';
import { upstreamTarget } from '../../attempt/request-message.ts';
import type { Explained } from '../explained.ts';

/** The request as a backend received it, or would have; null: it did not get that far. */
export function upstreamRequestPart({ x, held }: Explained): Readonly<Record<string, unknown>> | null {
  const { service, plan } = x;
  if (service === null || (x.upstreamUri === '' && held?.calledBy !== null)) return null;
  const uri = x.upstreamUri === '' ? upstreamTarget(x, service) : x.upstreamUri;
  return {
    method: x.upstreamMethod ?? x.head.method,
    uri: maskedTarget(uri, plan.secretArguments, plan.logMasks),
  };
}
