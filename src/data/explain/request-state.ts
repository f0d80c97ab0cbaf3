import type { UpstreamTimeouts } from '../../plugin-sdk/attempts.ts';
import type { ConsumerView, CredentialView } from '../../plugin-sdk/request-views.ts';
import type { HeaderEdits } from '../answer/header-edits.ts';
import type { Exchange } from '../request/exchange.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';

/** What plugins can change of a request and its response; a copy from before a plugin. */
export interface RequestState {
  readonly requestEdits: HeaderEdits | null;
  readonly responseEdits: HeaderEdits | null;
  readonly status: number;
  readonly method: string | null;
  readonly path: string | null;
  readonly pathInService: string | null;
  readonly query: string | null;
  readonly body: Uint8Array | null;
  readonly bodyLimited: boolean;
  readonly service: RuntimeService | null;
  readonly consumer: ConsumerView | null;
  readonly credential: CredentialView | null;
  readonly upstream: string | null;
  readonly timeouts: UpstreamTimeouts | null;
  readonly retries: boolean;
  readonly watched: boolean;
  readonly heldBody: Uint8Array | null;
}

export function requestState(x: Exchange): RequestState {
  return {
    requestEdits: x.requestEdits?.copy() ?? null,
    responseEdits: x.responseEdits?.copy() ?? null,
    status: x.status,
    method: x.upstreamMethod,
    path: x.upstreamPath,
    pathInService: x.pathInService,
    query: x.upstreamQuery,
    body: x.requestBody,
    bodyLimited: x.bodyLimited,
    service: x.service,
    consumer: x.consumer,
    credential: x.credential,
    upstream: x.policy?.upstream?.name ?? null,
    timeouts: x.policy?.timeouts ?? null,
    retries: (x.policy?.retries ?? null) !== null,
    watched: x.policy?.needsOutcome ?? false,
    heldBody: x.context?.response.heldBody ?? null,
  };
}

/** The changes since, one phrase each. Values of headers are omitted: they may be secrets. */
export function changesSince(before: RequestState, x: Exchange): readonly string[] {
  const now = requestState(x);
  const changes: string[] = [];
  if (now.consumer !== before.consumer) changes.push(`consumer ${consumerName(now.consumer)}`);
  else if (now.credential !== before.credential) changes.push('credential');
  if (now.service !== before.service) changes.push(`service ${now.service?.name ?? now.service?.id ?? 'none'}`);
  if (now.upstream !== before.upstream) changes.push(`upstream ${now.upstream ?? 'of the service'}`);
  if (now.method !== before.method) changes.push(`method ${now.method}`);
  if (now.path !== before.path || now.pathInService !== before.pathInService) changes.push('path for the backend');
  if (now.query !== before.query) changes.push('query for the backend');
  if (now.body !== before.body) changes.push(before.body === null ? 'has read the request body' : 'request body');
  if (now.bodyLimited !== before.bodyLimited) changes.push('limit of the request body');
  if (now.timeouts !== before.timeouts) changes.push('time-outs');
  if (now.retries !== before.retries) changes.push('retries');
  else if (now.watched !== before.watched) changes.push('watches the attempts');
  changes.push(...headerChanges('request header', x.requestEdits, before.requestEdits));
  if (now.status !== before.status) changes.push(`status ${now.status}`);
  changes.push(...headerChanges('answer header', x.responseEdits, before.responseEdits));
  if (now.heldBody !== before.heldBody && before.heldBody !== null) changes.push('body of the answer');
  return changes;
}

function headerChanges(what: string, edits: HeaderEdits | null, before: HeaderEdits | null): readonly string[] {
  if (edits === null) return [];
  const names = new Map<string, string[]>();
  for (const [name, change] of edits.changesSince(before)) names.set(change, [...(names.get(change) ?? []), name]);
  return [...names].map(([change, list]) => `${what}${list.length === 1 ? '' : 's'} ${list.join(', ')} ${change}`);
}

function consumerName(consumer: ConsumerView | null): string {
  if (consumer === null) return 'none';
  return consumer.username ?? consumer.customId ?? consumer.id;
}
