import type { ConsumerView } from '../../plugin-sdk/request-views.ts';
import { maskedTarget } from '../../shared/logs/masked-arguments.ts';
import { jsonBody, memberText, oneLine } from '../../shared/logs/record-line.ts';
import { utf8FromLatin1 } from '../../shared/util/bytes/latin1.ts';
import { hostName } from '../../shared/util/net/host-header.ts';
import { cachedOmitNulls } from '../../shared/util/omit-nulls.ts';
import {
  bytesWith,
  consumerPart,
  latencies,
  requestBytes,
  shownQuery,
  tries,
  upstreamStatus,
} from '../answer/log-record.ts';
import { sentBlock } from '../answer/response-head.ts';
import { shownRouteRow } from '../answer/route-row.ts';
import type { Exchange } from '../request/exchange.ts';
import { answerText, headersText } from './headers-text.ts';
import { queryText } from './query-text.ts';

/**
 * The line of the log record, without building the record: the same text as `recordLine` of `logRecord` with the added
 * fields. Null: the record has to be built, because an added field is one of its own, or changes the order of the others.
 *
 * @param now end of the request, monotonic clock
 * @param added name, value, name, value
 */
export function recordText(x: Exchange, now: number, added: readonly unknown[] | null): string | null {
  const more = added === null ? '' : addedText(added);
  if (more === null) return null;
  const { head, route, service, plan } = x;
  const block = sentBlock(x);
  const times = latencies(x, now);
  const upstreamUri = utf8FromLatin1(maskedTarget(x.upstreamUri, plan.secretArguments, plan.logMasks));
  return (
    `{"request":{"id":"${jsonBody(x.id)}",${targetText(x)},"method":"${jsonBody(head.method)}","headers":${requestHeaders(x)}` +
    `,"size":${requestBytes(x)}${tlsText(x)}},"upstream_uri":"${jsonBody(upstreamUri)}"` +
    `,"upstream_status":"${upstreamStatus(x)}","response":{"status":${x.status},"headers":${answerText(x, block)}` +
    `,"size":${bytesWith(x, block)}},"latencies":{"request":${times.request},"kong":${times.kong}` +
    `,"proxy":${times.proxy},"receive":${times.receive}},"client_ip":"${jsonBody(x.clientIp)}"` +
    `,"started_at":${x.startedAt},"source":"${x.responseSource === 'upstream' ? 'upstream' : 'kong'}"` +
    `,"workspace":"default","workspace_name":"default"${route === null ? '' : triesText(x)}${identityText(x)}${more}` +
    `${route === null ? '' : memberText('route', shownRouteRow(route, plan))}` +
    `${service === null ? '' : memberText('service', cachedOmitNulls(service.row))}}`
  );
}

/** `uri`, `url` and `querystring`. */
function targetText(x: Exchange): string {
  const { head, peer, plan } = x;
  const { secretArguments, logMasks } = plan;
  const target = maskedTarget(head.target, secretArguments, logMasks);
  const uri = jsonBody(utf8FromLatin1(target));
  const origin = `${peer.scheme}://${jsonBody(hostName(head.host))}:${peer.localPort}`;
  const query = shownQuery(x, target);
  return `"uri":"${uri}","url":"${origin}${uri}","querystring":${queryText(query, secretArguments)}`;
}

/** Heads with more characters are not kept for their connection: there may be many. */
const maxKeptLength = 2048;

/** Clients repeat the same lines on a connection: comparing them finds their text. */
function requestHeaders(x: Exchange): string {
  const { peer, plan } = x;
  const { block } = x.head;
  const known = peer.recorded;
  if (known !== null && known.plan === plan && known.block === block) return known.text;
  const text = headersText(x, block);
  if (block.length <= maxKeptLength) peer.recorded = { block, plan, text };
  return text;
}

function tlsText({ peer }: Exchange): string {
  if (peer.tls === null) return '';
  const { version, cipher } = peer.tls;
  return `,"tls":{"version":${JSON.stringify(version)},"cipher":${JSON.stringify(cipher)},"client_verify":"NONE"}`;
}

function triesText(x: Exchange): string {
  let text = '';
  for (const { balancer_start, balancer_start_ns, ip, port, state, code } of tries(x)) {
    if (text !== '') text += ',';
    text += `{"balancer_start":${balancer_start},"balancer_start_ns":${balancer_start_ns}`;
    text += `,"ip":"${jsonBody(ip)}","port":${port}${state === undefined ? '' : `,"state":"${state}","code":${code}`}}`;
  }
  return `,"tries":[${text}]`;
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
