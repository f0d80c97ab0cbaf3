import type { ConsumerView } from '../../plugin-sdk/request-views.ts';
import { maskedTarget } from '../../shared/logs/masked-arguments.ts';
import { jsonBody, jsonOfLatin1, memberText, oneLine } from '../../shared/logs/record-line.ts';
import { flatText } from '../../shared/util/bytes/flat-text.ts';
import { cachedOmitNulls } from '../../shared/util/omit-nulls.ts';
import { bytesWith, consumerPart, latencies } from '../answer/log-record.ts';
import { sentBlock } from '../answer/response-head.ts';
import { shownRouteRow } from '../answer/route-row.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { Exchange } from '../request/exchange.ts';
import type { RuntimeRoute, RuntimeService } from '../snapshot/runtime.ts';
import { answerText, statusText } from './answer-text.ts';
import { latenciesText, triesText } from './attempts-text.ts';
import { recordedHead, requestText } from './request-text.ts';

/**
 * The line of the log record, without building the record: the same text as `recordLine` of `logRecord` with the added
 * fields. Null: the record has to be built, because an added field is one of its own, or changes the order of the others.
 * What is the same in many records is kept in one piece: each piece of a string costs twice, when it is added and when
 * the whole is written.
 *
 * @param now end of the request, monotonic clock
 * @param added name, value, name, value
 */
export function recordText(x: Exchange, now: number, added: readonly unknown[] | null): string | null {
  const more = added === null ? '' : addedText(added);
  if (more === null) return null;
  const { plan } = x;
  const block = sentBlock(x);
  const head = recordedHead(x);
  const upstreamUri = jsonOfLatin1(maskedTarget(x.upstreamUri, plan.secretArguments, plan.logMasks));
  return (
    `{"request":{"id":"${x.id}","uri":"${requestText(x, head)}},"upstream_uri":"${upstreamUri}${statusText(x)}` +
    `${answerText(x, block)},"size":${bytesWith(x, block)}${latenciesText(latencies(x, now))}` +
    `${head.client}${x.startedAt}${x.responseSource === 'upstream' ? fromUpstream : fromGateway}` +
    `${x.route === null ? '' : triesText(x)}${identityText(x)}${more}${rowsText(x)}}`
  );
}

const fromUpstream = ',"source":"upstream","workspace":"default","workspace_name":"default"';
const fromGateway = ',"source":"kong","workspace":"default","workspace_name":"default"';

interface KnownRows {
  readonly service: RuntimeService | null;
  readonly plan: PluginPlan;
  readonly text: string;
}

/** By the route; the plan decides what is masked. */
const knownRows = new WeakMap<RuntimeRoute, KnownRows>();

/** Route and service. */
function rowsText({ route, service, plan }: Exchange): string {
  if (route === null) return serviceText(service);
  const known = knownRows.get(route);
  if (known !== undefined && known.service === service && known.plan === plan) return known.text;
  const text = memberText('route', shownRouteRow(route, plan)) + serviceText(service);
  // Consumers may have a plan each.
  if (plan === route.plan && service === route.service) knownRows.set(route, { service, plan, text: flatText(text) });
  return text;
}

function serviceText(service: RuntimeService | null): string {
  return service === null ? '' : memberText('service', cachedOmitNulls(service.row));
}

/** Views of consumers live as long as their config, and never change. */
const consumerTexts = new WeakMap<ConsumerView, string>();

function identityText({ credential, consumer }: Exchange): string {
  let text = '';
  if (credential !== null) {
    const id = credential.id === null ? '' : `"id":"${jsonBody(credential.id)}"`;
    const owner = consumer === null ? '' : `"consumer_id":"${jsonBody(consumer.id)}"`;
    text = `,"authenticated_entity":{${id}${id === '' || owner === '' ? '' : ','}${owner}}`;
  }
  return consumer === null ? text : text + consumerText(consumer);
}

function consumerText(consumer: ConsumerView): string {
  let text = consumerTexts.get(consumer);
  if (text === undefined) {
    text = memberText('consumer', consumerPart(consumer));
    consumerTexts.set(consumer, text);
  }
  return text;
}

const simpleName = /^[A-Za-z][\w.-]*$/;
/** Names of the record, and the one that changes how JSON is written. */
const own: ReadonlySet<string> = new Set([
  'request',
  'upstream_uri',
  'upstream_status',
  'response',
  'latencies',
  'client_ip',
  'started_at',
  'source',
  'workspace',
  'workspace_name',
  'tries',
  'route',
  'service',
  'authenticated_entity',
  'consumer',
  'toJSON',
]);

/** Null: a name is not simply added. */
function addedText(pairs: readonly unknown[]): string | null {
  let text = '';
  for (let at = 0; at < pairs.length; at += 2) {
    const name = pairs[at] as string;
    const value = pairs[at + 1];
    if (own.has(name) || !simpleName.test(name)) return null;
    if (typeof value === 'string') text += `,"${name}":"${jsonBody(value)}"`;
    else {
      const json = JSON.stringify({ [name]: value });
      if (json !== '{}') text += `,${oneLine(json.slice(1, -1))}`;
    }
  }
  return text;
}
