import { maskedHeaders } from '../../answer/log-record.ts';
import { milliseconds } from '../../answer/server-timing.ts';
import type { Exchange } from '../../request/exchange.ts';
import type { AnsweredBy, AnswerPart, Explained, SeenAnswer, ShownBody } from '../explained.ts';
import { addressText } from './attempts-part.ts';

/** The response that the client would have received. */
export function answerPart(explained: Explained): AnswerPart {
  const { x, answer, ending } = explained;
  const { by, who } = answerer(explained);
  return {
    by,
    who,
    status: answer?.status ?? null,
    error: x.error === null ? null : { code: x.error.code, message: x.error.message, cause: x.failureCause || null },
    message: answer === null ? null : messageIn(answer.beginning),
    headers: answer === null ? {} : maskedHeaders(x, answer.block),
    trailers: answer === null ? {} : maskedHeaders(x, answer.trailers),
    body_bytes: answer?.bytes ?? 0,
    ...(answer?.kept === undefined ? {} : { body: shownBody(answer.kept, answer.bytes) }),
    complete: ending === 'complete',
    head_ms: answer === null || answer.head === null ? null : milliseconds(answer.head),
  };
}

function shownBody(kept: NonNullable<SeenAnswer['kept']>, bytes: number): ShownBody {
  const body = Buffer.concat(kept.pieces, kept.bytes);
  const truncated = kept.bytes < bytes;
  const text = textOf(body, truncated);
  return text === null ? { base64: body.toString('base64'), truncated } : { text, truncated };
}

/** Null: it is not text. A character that the end cuts in two is left out. */
function textOf(body: Uint8Array, truncated: boolean): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body, { stream: truncated });
  } catch {
    return null;
  }
}

const maxMessageSize = 300;

/** The `message` of the JSON that plugins answer with. */
function messageIn(body: string): string | null {
  // An exception takes longer than all the rest of a record.
  if (!body.startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(body);
    const message = (value as { readonly message?: unknown } | null)?.message;
    return typeof message === 'string' ? message.slice(0, maxMessageSize) : null;
  } catch {
    return null;
  }
}

function answerer({ x, recorder, answer }: Explained): { readonly by: AnsweredBy; readonly who: string | null } {
  if (answer === null) return { by: 'nobody', who: null };
  if (x.error !== null) return { by: 'gateway', who: null };
  const { spans, calls } = recorder;
  const lastAttempt = spans.findLastIndex(
    ({ kind, facts }, at) => kind === 'attempt' && facts['failed'] !== true && !calls.has(at),
  );
  // A header filter that fails does not answer.
  const last = spans.findLastIndex(
    ({ kind, facts }) => kind === 'plugin' && facts['decided'] !== undefined && facts['phase'] !== 'headerFilter',
  );
  if (last > lastAttempt) return { by: 'plugin', who: spans[last]?.name ?? null };
  if (lastAttempt >= 0 && x.responseSource === 'upstream') return { by: 'backend', who: backendText(x) };
  return { by: x.responseSource === 'upstream' ? 'plugin' : 'gateway', who: null };
}

function backendText({ target, targetIp, targetPort }: Exchange): string {
  const address = addressText(targetIp, targetPort);
  return target === null || target.host === targetIp ? address : `${target.host} (${address})`;
}
