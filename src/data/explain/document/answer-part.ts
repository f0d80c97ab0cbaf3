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
    message: answer === null ? null : messageIn(answer.beginning, answer.status),
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

const firstError = 400;
/** Members of JSON errors that are a sentence for people: of Kong, OAuth 2, and RFC 9457. */
const sentences = ['message', 'error_description', 'detail', 'title', 'error'] as const;
/** Of an error that is an object of problems by name, such as `{"exp":"token expired"}` of jwt. */
const maxProblems = 3;

/** What the JSON that plugins answer with says to people. Other answers than errors may contain secrets, such as tokens. */
function messageIn(body: string, status: number): string | null {
  // An exception takes longer than all the rest of a record.
  if (!body.startsWith('{')) return null;
  try {
    const value = Object(JSON.parse(body)) as Readonly<Record<string, unknown>>;
    const said = status < firstError ? value['message'] : sentences.map((name) => value[name]).find(isText);
    if (isText(said)) return said.slice(0, maxMessageSize);
    const problems = Object.entries(value);
    if (status < firstError || problems.length > maxProblems || !problems.every(([, problem]) => isText(problem)))
      return null;
    return (
      problems
        .map(([name, problem]) => `${name}: ${problem}`)
        .join(', ')
        .slice(0, maxMessageSize) || null
    );
  } catch {
    return null;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
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
