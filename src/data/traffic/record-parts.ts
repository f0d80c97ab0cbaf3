import type { Reply } from '../../plugin-sdk/reply.ts';
import type { TrafficEntry } from '../../shared/traffic/traffic-record.ts';
import { utf8FromLatin1 } from '../../shared/util/bytes/latin1.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { requestBytes, responseBytes } from '../answer/log-record.ts';
import { sentBlock } from '../answer/response-head.ts';
import { milliseconds } from '../answer/server-timing.ts';
import { addressText } from '../explain/document/attempts-part.ts';
import type { Why } from '../explain/document/causes.ts';
import { notExplained } from '../explain/explain-mode.ts';
import type { AnswerPart, Explained, SeenAnswer } from '../explain/explained.ts';
import type { Exchange } from '../request/exchange.ts';
import type { RecordingTrace } from './recording-trace.ts';

/** nginx's status for a client that closed the connection before the response. */
const clientClosedRequest = 499;
/** Characters. */
const maxPath = 2_048;
const maxHost = 255;
const maxReply = 4_096;

/** The exchange as the parts of an explanation read it. */
export function explainedBy(x: Exchange, recorder: RecordingTrace): Explained {
  const answer: SeenAnswer | null = isUnanswered(x)
    ? null
    : {
        status: x.status,
        block: sentBlock(x),
        bytes: x.bytesSent,
        beginning: recorder.reply === null ? '' : textOf(recorder.reply),
        trailers: '',
        head: null,
      };
  return { x, recorder, mode: notExplained, ending: x.clientAborted ? 'broken' : 'complete', answer, held: null };
}

/** The client disconnected before an answer began. */
export function isUnanswered({ status, clientAborted, headSent }: Exchange): boolean {
  return status === 0 || (status === clientClosedRequest && clientAborted && !headSent);
}

/** The body of a plugin's reply, as far as its message is in it. */
function textOf({ message, body }: Reply): string {
  if (message !== null) return JSON.stringify({ message });
  return typeof body === 'string' && body.length <= maxReply ? body : '';
}

/** A record as lists show it. */
export function entryOf(
  x: Exchange,
  { by, who }: Pick<AnswerPart, 'by' | 'who'>,
  why: Why | null,
  traced: boolean,
): TrafficEntry {
  const { head, route, service, consumer, credential } = x;
  const now = monotonic();
  const asked = x.upstreamStartedMono > 0;
  const answered = x.firstByteMono > 0;
  return {
    id: x.id,
    at: new Date(x.startedAt).toISOString(),
    client: x.clientIp,
    method: head.method,
    scheme: x.clientScheme,
    host: head.host.slice(0, maxHost),
    path: utf8FromLatin1(x.path === '' ? head.rawPath : x.path).slice(0, maxPath),
    status: x.status === 0 ? clientClosedRequest : x.status,
    by,
    who,
    reason: why?.sentence ?? null,
    route: route === null ? null : { id: route.id, name: route.name },
    service: service === null ? null : { id: service.id, name: service.name },
    consumer: consumer === null ? null : { id: consumer.id, username: consumer.username, custom_id: consumer.customId },
    credential: credential?.id ?? null,
    tries: x.tries,
    backend: x.targetIp === '' ? null : addressText(x.targetIp, x.targetPort),
    duration: milliseconds(now - x.startedMono),
    gateway: milliseconds((asked ? x.upstreamStartedMono : now) - x.startedMono),
    upstream: asked ? milliseconds((answered ? x.firstByteMono : now) - x.upstreamStartedMono) : null,
    receive: answered ? milliseconds(now - x.firstByteMono) : null,
    bytes_in: requestBytes(x),
    bytes_out: responseBytes(x),
    aborted: x.clientAborted,
    traced,
  };
}
