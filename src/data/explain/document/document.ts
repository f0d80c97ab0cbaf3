import type { Exchange } from '../../request/exchange.ts';
import type { Explained } from '../explained.ts';
import { answerPart } from './answer-part.ts';
import { attemptsPart } from './attempts-part.ts';
import { pluginsPart } from './plugins-part.ts';
import { requestPart } from './request-part.ts';
import { routerPart } from './router-part.ts';
import { summaryOf } from './summary.ts';
import { timelinePart } from './timeline-part.ts';
import { upstreamRequestPart } from './upstream-request-part.ts';
import { whyOf } from './why.ts';

/** The version of the document; grows when something in it changes its meaning. */
const version = 1;

/** The explanation of a request as it is sent. What logs must not show is masked here too. */
export function explanation(explained: Explained): Readonly<Record<string, unknown>> {
  const { x, recorder, mode } = explained;
  const answer = answerPart(explained);
  return {
    explain: version,
    summary: summaryOf(explained, answer),
    why: whyOf(explained, answer),
    carried_out: !mode.dry,
    note: noteOf(explained),
    request: requestPart(x, mode),
    router: routerPart(x, recorder.match),
    service: servicePart(x),
    consumer: consumerPart(x),
    plugins: pluginsPart(explained),
    upstream_request: upstreamRequestPart(explained),
    balancer: recorder.choices,
    attempts: attemptsPart(recorder),
    answer,
    timeline: timelinePart(explained),
  };
}

function noteOf({ x, mode, ending, held }: Explained): string {
  const dropped =
    mode.bodyBytes > 0
      ? 'The request was carried out as any other.'
      : 'The request was carried out as any other; the body of its answer was dropped.';
  if (x.head.upgrade !== '') {
    return `A change of protocol (${x.head.upgrade}) cannot be explained beyond the choice of the backend: no backend was contacted.`;
  }
  if (ending === 'held' && held?.calledBy != null) {
    return `Dry run: it ends where the plugin ${held.calledBy} would have asked a backend. Plugins before it have really run.`;
  }
  if (mode.dry) return 'Dry run: no backend was contacted. Plugins have really run: limits have counted the request.';
  if (ending === 'endless') return `${dropped} It had no end within 10 seconds, and was given up.`;
  if (ending === 'broken') return `${dropped} It broke off.`;
  return dropped;
}

function servicePart({ service }: Exchange): Readonly<Record<string, unknown>> | null {
  if (service === null) return null;
  const { id, name, protocol, host, port, path, upstream, retries, timeouts } = service;
  return { id, name, protocol, host, port, path, upstream: upstream?.name ?? null, retries, timeouts };
}

function consumerPart({ consumer, credential }: Exchange): Readonly<Record<string, unknown>> | null {
  if (consumer === null && credential === null) return null;
  return {
    id: consumer?.id ?? null,
    username: consumer?.username ?? null,
    custom_id: consumer?.customId ?? null,
    credential_id: credential?.id ?? null,
  };
}
