import { type ErrorEntry, errors } from '../../../shared/errors.ts';
import type { ConditionKind } from '../../router/explain-match.ts';
import type { AnswerPart, Explained } from '../explained.ts';
import { causeText, causingPlugin, ofRoute, ofService, ofSettings, type Why } from './causes.ts';
import { routeLabel } from './route-label.ts';
import { answerTooLarge, bodyTooLarge, clientLeft } from './why-ended.ts';

const firstFailure = 400;
const firstFault = 500;

/** Why the answer is an error; null: it is none. */
export function whyOf(explained: Explained, answer: AnswerPart): Why | null {
  const { x } = explained;
  const { status, by, who, message } = answer;
  if (status === null) return explained.ending === 'broken' && x.clientAborted ? clientLeft(explained) : null;
  if (status < firstFailure) return null;
  const error = x.error ?? (x.clientAborted && by === 'gateway' ? brokenOff(status) : null);
  if (error !== null) return whyError(error, explained);
  if (by === 'plugin') {
    const said = message === null ? '' : `: ${message}`;
    // A body that a plugin cannot read is a fault of the request: 400, 413 or 415.
    const failed = status >= firstFault && hasFailed(explained, who);
    const what = failed ? 'failed, so the request was answered' : 'answered';
    return {
      sentence: `The plugin ${who ?? ''} ${what} ${status}${said}.`.replace('  ', ' '),
      cause: causingPlugin(explained, who),
    };
  }
  if (by === 'backend') {
    return { sentence: `The backend at ${who} itself answered ${status}.`, cause: ofService(explained, null) };
  }
  return { sentence: `The gateway answered ${status}.`, cause: null };
}

type Reason = (explained: Explained) => Why;

/** The reasons of the gateway's own errors. An error that is missing is explained by its message. */
const reasons = new Map<ErrorEntry, Reason>([
  [errors.noRoute, noRoute],
  [
    errors.noService,
    (it) => ({ sentence: 'The route has no service, and no plugin answered.', cause: ofRoute(it, 'service') }),
  ],
  [errors.httpsRequired, (it) => ({ sentence: 'The route accepts HTTPS only.', cause: ofRoute(it, 'protocols') })],
  [
    errors.http2Required,
    (it) => ({ sentence: 'The route carries gRPC, which needs HTTP/2.', cause: ofRoute(it, 'protocols') }),
  ],
  [errors.notGrpc, (it) => ({ sentence: 'The route carries gRPC only.', cause: ofRoute(it, 'protocols') })],
  [
    errors.nameResolution,
    (it) => ({ sentence: `The name ${it.x.service?.host ?? ''} has no address.`, cause: ofService(it, 'host') }),
  ],
  [errors.noTarget, noTarget],
  [
    errors.connectFailed,
    (it) => ({ sentence: `The backend could not be reached${causeText(it)}.`, cause: ofService(it, null) }),
  ],
  [errors.connectTimeout, (it) => expired(it, 'connection to the backend', 'connect_timeout')],
  [errors.sendTimeout, (it) => expired(it, 'request on its way to the backend', 'write_timeout')],
  [errors.firstByteTimeout, (it) => expired(it, 'answer of the backend', 'read_timeout')],
  [errors.idleTimeout, (it) => expired(it, 'rest of the answer', 'read_timeout')],
  [errors.totalTimeout, (it) => expired(it, 'request', null)],
  [
    errors.upstreamClosed,
    (it) => ({
      sentence: `The backend closed the connection before its answer was complete${causeText(it)}.`,
      cause: ofService(it, null),
    }),
  ],
  [
    errors.upstreamRefused,
    (it) => ({ sentence: 'The backend refused to process the request.', cause: ofService(it, null) }),
  ],
  [
    errors.badResponse,
    (it) => ({ sentence: `The answer of the backend was not valid HTTP${causeText(it)}.`, cause: ofService(it, null) }),
  ],
  [errors.payloadTooLarge, bodyTooLarge],
  [
    errors.requestSizeExceeded,
    (it) => ({
      sentence: 'The request body is larger than the plugin request-size-limiting permits.',
      cause: causingPlugin(it, 'request-size-limiting'),
    }),
  ],
  [errors.responseTooLarge, answerTooLarge],
  [
    errors.requestTimeout,
    () => ({
      sentence: 'The client sent its request too slowly.',
      cause: ofSettings('nginx_http_client_body_timeout', 'client_body_min_rate'),
    }),
  ],
  [
    errors.overloaded,
    () => ({
      sentence: 'The worker was overloaded, or its memory for bodies was used up.',
      cause: ofSettings('overload_lag', 'overload_heap', 'body_memory'),
    }),
  ],
  [
    errors.storeUnavailable,
    () => ({ sentence: 'The database was unavailable, and the answer was not cached.', cause: null }),
  ],
  [
    errors.badRequest,
    () => ({ sentence: 'The request could be understood in two ways, so it was refused.', cause: null }),
  ],
  [errors.unexpected, unexpected],
]);

/** The error with which a connection was closed in the middle of its request. */
function brokenOff(status: number): ErrorEntry | null {
  const all = [errors.badRequest, errors.requestTimeout, errors.payloadTooLarge];
  return all.find((error) => error.status === status) ?? null;
}

function whyError(error: ErrorEntry, explained: Explained): Why {
  const reason = reasons.get(error);
  return reason === undefined ? { sentence: `${error.message}.`, cause: null } : reason(explained);
}

/** The field of a route with the condition. */
const fields: Readonly<Record<ConditionKind, string>> = {
  host: 'hosts',
  path: 'paths',
  method: 'methods',
  header: 'headers',
  sni: 'snis',
};
const maxWanted = 3;

function noRoute({ x, recorder }: Explained): Why {
  const disabled = recorder.match?.disabled[0];
  if (disabled !== undefined) {
    // The data plane does not know a disabled service beyond its id.
    const { id } = (disabled.row['service'] ?? {}) as { readonly id?: string };
    return {
      sentence: `No route matched: ${routeLabel(disabled)} would, but its service is disabled.`,
      cause: { entity: 'services', id: id ?? null, name: null, field: 'enabled', settings: [] },
    };
  }
  const nearest = recorder.match?.others[0];
  const failed = nearest?.failed ?? null;
  if (nearest === undefined || failed === null) {
    const none = recorder.match?.routes === 0 ? ': there is none' : '';
    return { sentence: `No route matched ${x.head.method} ${x.head.rawPath}${none}.`, cause: null };
  }
  const { kind, name, wanted } = failed;
  const shown = `${wanted.slice(0, maxWanted).join(', ')}${wanted.length > maxWanted ? ', ...' : ''}`;
  // The value of a header may be a key.
  const wants = kind === 'header' ? `another value of the header ${name}` : `the ${kind} ${shown}`;
  const { id, name: routeName } = nearest.route;
  return {
    sentence: `No route matched: the nearest, ${routeLabel(nearest.route)}, wants ${wants}.`,
    cause: { entity: 'routes', id, name: routeName, field: fields[kind], settings: [] },
  };
}

function noTarget(explained: Explained): Why {
  const { x, recorder } = explained;
  const upstream = x.balanced ?? x.service?.upstream ?? null;
  const reason = recorder.choices.at(-1)?.reason ?? null;
  return {
    sentence: `The upstream ${upstream?.name ?? ''} has no usable target${reason === null ? '' : `: ${reason}`}.`,
    cause:
      upstream === null
        ? null
        : { entity: 'upstreams', id: upstream.id, name: upstream.name, field: 'targets', settings: [] },
  };
}

/** Timeouts are the service's, unless a plugin has set others. */
function expired(explained: Explained, what: string, field: string | null): Why {
  const { x } = explained;
  const set = x.policy?.timeouts == null ? null : causingPlugin(explained, 'timeouts');
  const where = set !== null ? 'config of the plugin timeouts' : field === null ? '' : `${field} of the service`;
  return {
    sentence: `The ${what} timed out${where === '' ? '' : ` (${where})`}${causeText(explained)}.`,
    cause: set ?? ofService(explained, field),
  };
}

function unexpected(explained: Explained): Why {
  const failed = explained.recorder.spans.findLast(
    ({ kind, facts }) => kind === 'plugin' && facts['decided'] === 'failed',
  );
  const log = 'the error log has the cause, with the id of the request';
  return failed === undefined
    ? { sentence: `The gateway failed; ${log}.`, cause: null }
    : { sentence: `The plugin ${failed.name} failed; ${log}.`, cause: causingPlugin(explained, failed.name) };
}

function hasFailed({ recorder }: Explained, plugin: string | null): boolean {
  return recorder.spans.some(
    ({ kind, name, facts }) => kind === 'plugin' && name === plugin && facts['decided'] === 'failed',
  );
}
