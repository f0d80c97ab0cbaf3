import type { BackendCall } from '../../plugin-sdk/calls.ts';
import { framingHeaders } from '../../plugin-sdk/header-names.ts';
import { headerValue, onlyFields, withoutFields } from '../../shared/http/header-block.ts';
import { composeUpstreamPath, normalisePath } from '../../shared/http/path.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { headerLine, lowerName, refuseFraming } from '../answer/header-edits.ts';
import { UpstreamPolicy } from '../attempt/upstream-policy.ts';
import { requestEdits } from '../attempt/upstream-request-edit.ts';
import type { ParsedRequest } from '../http1/parsed-request.ts';
import { buildPlan } from '../plugin-runner/build-plan.ts';
import type { Downstream } from '../request/exchange.ts';
import { Exchange } from '../request/exchange.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';

const noPlugins = buildPlan([]);
const ownFields: ReadonlySet<string> = new Set([...framingHeaders, 'host', 'expect']);

/** The exchange of a call that a plugin makes while it handles `x`. Throws when path or headers cannot be sent. */
export function callExchange(
  x: Exchange,
  call: BackendCall,
  service: RuntimeService,
  downstream: Downstream,
): Exchange {
  const now = monotonic();
  const startedAt = x.startedAt + (now - x.startedMono);
  const own = call.to === undefined;
  const made = new Exchange(downstream, x.peer, callHead(x, call), x.snapshot, x.id, startedAt, now);
  made.clientIp = x.clientIp;
  made.clientScheme = x.clientScheme;
  made.plan = noPlugins;
  made.trace = x.trace?.branch(call.detached === true) ?? null;
  made.service = service;
  made.consumer = x.consumer;
  made.identity = x.identity;
  made.requestBody = call.body ?? null;
  made.bodyTaken = call.body !== undefined;
  if (own) {
    made.route = x.route;
    made.captures = x.captures;
    if (call.pass === 'all') made.requestEdits = x.requestEdits?.copy() ?? null;
  }
  setPath(made, x, call, service);
  for (const [name, value] of call.headers ?? []) setHeader(made, call, name, value);
  made.policy = policyOf(x, call, service, own);
  return made;
}

function callHead(x: Exchange, { method = 'GET', pass, to }: BackendCall): ParsedRequest {
  const head = x.head.copy();
  head.method = method;
  head.bodyLength = 0;
  head.expectContinue = false;
  head.upgrade = '';
  head.trailers = false;
  head.forwardBlock = to === undefined && pass === 'all' ? x.head.forwardBlock : passedLines(x, pass);
  return head;
}

/** The client's header lines that are forwarded, with the edits of plugins. */
function passedLines(x: Exchange, pass: BackendCall['pass']): string {
  const { forwardBlock } = x.head;
  if (pass === undefined) return '';
  const lines = withoutFields(x.requestEdits?.applyTo(forwardBlock) ?? forwardBlock, ownFields);
  return pass === 'all' ? lines : onlyFields(lines, pass);
}

/** Headers that calls often have, and that the gateway itself never writes. */
const plainFields: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'authorization',
  'content-type',
  'user-agent',
]);

function setHeader(made: Exchange, { pass }: BackendCall, name: string, value: string): void {
  const { head } = made;
  const lower = lowerName(name);
  // No other line has this name: there is nothing to edit.
  if (pass === undefined && plainFields.has(lower) && headerValue(head.forwardBlock, lower) === null) {
    head.forwardBlock += headerLine(name, value);
    return;
  }
  refuseFraming(name);
  requestEdits(made).set(name, value);
}

function setPath(made: Exchange, x: Exchange, { path, query, to }: BackendCall, service: RuntimeService): void {
  if (path === undefined && to === undefined) {
    made.path = x.path;
    made.matchedPath = x.matchedPath;
    made.upstreamPath = x.upstreamPath;
    made.pathInService = x.pathInService;
    made.upstreamQuery = query ?? x.upstreamQuery;
    return;
  }
  const asked = normalisePath(path ?? '/');
  if (asked === null || !asked.startsWith('/')) throw new Error('the path of a call must begin with a slash');
  made.path = x.path;
  made.upstreamPath = composeUpstreamPath(service.path, false, '', asked);
  made.upstreamQuery = '';
  if (query !== undefined) setQuery(made, query);
}

function setQuery(made: Exchange, query: string): void {
  if (/[\0-\x20#\x7f-\uffff]/.test(query)) throw new Error('the query of a call must be escaped');
  made.upstreamQuery = query;
}

/** Settings that plugins made for the request's own service apply to calls to it, too. */
function policyOf(x: Exchange, { timeout }: BackendCall, service: RuntimeService, own: boolean): UpstreamPolicy {
  const policy = new UpstreamPolicy();
  const timeouts = (own ? x.policy?.timeouts : null) ?? service.timeouts;
  const { connect, send, firstByte, idle } = timeouts;
  policy.timeouts = { connect, send, firstByte, idle, total: timeout };
  if (own) policy.upstream = x.policy?.upstream ?? null;
  return policy;
}
