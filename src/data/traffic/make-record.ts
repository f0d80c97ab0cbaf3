import { redacted } from '../../shared/logs/masked-arguments.ts';
import type { PostedRecord } from '../../shared/traffic/traffic-record.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import { answerPart } from '../explain/document/answer-part.ts';
import { addressText } from '../explain/document/attempts-part.ts';
import { explanation } from '../explain/document/document.ts';
import { whyOf } from '../explain/document/why.ts';
import type { AnswerPart } from '../explain/explained.ts';
import type { Exchange } from '../request/exchange.ts';
import type { NearRoutes } from './near-routes.ts';
import { rawRequest } from './raw-request.ts';
import { entryOf, explainedBy, isUnanswered } from './record-parts.ts';
import { RecordingTrace } from './recording-trace.ts';

/** Maximum characters of an explanation. */
const maxExplanation = 65_536;

type Part = Readonly<Record<string, unknown>>;

/** The record of a request that was recorded from its start. Call it after the answer. */
export function tracedRecord(x: Exchange, recorder: RecordingTrace, routes: NearRoutes): PostedRecord {
  let complete = true;
  if (recorder.wasRouted) {
    const near = routes.of(x);
    recorder.match = near.match;
    complete = near.complete;
  }
  const explained = explainedBy(x, recorder);
  const { note: _, carried_out: _carriedOut, ...document } = explanation(explained);
  const router = document['router'] as Part | null;
  const shown = router === null || complete ? document : { ...document, router: { ...router, others: null } };
  const why = document['why'] as ReturnType<typeof whyOf>;
  const entry = entryOf(x, document['answer'] as AnswerPart, why, true);
  return [maskedText(JSON.stringify(entry)), maskedText(shortened(shown)), rawRequest(x)];
}

/** The record of a request that was selected at its end: what plugins did, and how long each step took, is not known. */
export function lateRecord(x: Exchange, zone: AddressZone, routes: NearRoutes): PostedRecord {
  const recorder = new RecordingTrace(x, zone, false);
  // The router ran, or the request was answered before.
  if (x.route !== null || x.error?.code === 'NO_ROUTE') recorder.match = routes.of(x).match;
  const explained = explainedBy(x, recorder);
  const answer = { ...answerPart(explained), ...lateAnswerer(x) };
  const why = whyOf(explained, answer);
  const { note: _, carried_out: _carriedOut, ...document } = explanation(explained);
  const shown = { ...document, why, answer, plugins: null, balancer: null, attempts: null, timeline: null };
  return [maskedText(JSON.stringify(entryOf(x, answer, why, false))), maskedText(shortened(shown)), rawRequest(x)];
}

/** Who answered, without the spans. */
function lateAnswerer(x: Exchange): Pick<AnswerPart, 'by' | 'who'> {
  if (isUnanswered(x)) return { by: 'nobody', who: null };
  if (x.error !== null) return { by: 'gateway', who: null };
  if (x.responseSource === 'upstream') return { by: x.upstreamStatus > 0 ? 'backend' : 'plugin', who: backendOf(x) };
  const replied = x.upstreamStartedMono === 0 ? (x.plan.access[x.accessAt]?.name ?? null) : null;
  const redirected = x.route?.httpsOnly === true && x.clientScheme !== 'https';
  if (redirected || x.context === null) return { by: 'gateway', who: null };
  return { by: 'plugin', who: x.route === null ? null : replied };
}

function backendOf({ upstreamStatus, targetIp, targetPort }: Exchange): string | null {
  return upstreamStatus === 0 ? null : addressText(targetIp, targetPort);
}

/** JSON of at most `maxExplanation` characters. */
function shortened(document: Part): string {
  const text = JSON.stringify(document);
  if (text.length <= maxExplanation) return text;
  const router = document['router'] as Part | null;
  const fewer = { ...document, router: router === null ? null : { ...router, others: null }, balancer: null };
  const short = JSON.stringify({ ...fewer, truncated: true });
  if (short.length <= maxExplanation) return short;
  const { summary, why } = document;
  const rest = JSON.stringify({ summary: String(summary).slice(0, maxShown), why, truncated: true });
  return rest.length <= maxExplanation ? rest : '{"truncated":true}';
}

const maxShown = 4_096;

/** User and password of a URL anywhere in a JSON text, also percent-encoded, also in a path whose slashes were merged. */
const userInfo = /((?::|%3a)(?:\/|%2f){1,2})[^/?#&\s"\\]{1,256}?(@|%40)/gi;

function maskedText(json: string): string {
  return /@|%40/.test(json) ? json.replace(userInfo, `$1${redacted}$2`) : json;
}
