import type { Exchange } from '../exchange.ts';
import { maskedHeaders } from '../log-record.ts';
import { milliseconds } from '../server-timing.ts';
import { addressText } from './attempts-part.ts';
import type { Explained } from './document.ts';

/** Whose answer it was. */
export type AnsweredBy = 'backend' | 'plugin' | 'gateway' | 'nobody';

export interface AnswerPart {
  readonly by: AnsweredBy;
  /** Address of the backend, or name of the plugin. */
  readonly who: string | null;
  readonly status: number | null;
  /** The gateway's own error; `cause`: why the last attempt at a backend failed. */
  readonly error: { readonly code: string; readonly message: string; readonly cause: string | null } | null;
  /** What an answer of the gateway or a plugin says; null: nothing, or it is a backend's. */
  readonly message: string | null;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly trailers: Readonly<Record<string, unknown>>;
  /** Of the body that the client would have got. */
  readonly body_bytes: number;
  readonly complete: boolean;
  /** Milliseconds to the head of the answer. */
  readonly head_ms: number | null;
}

/** The answer that the client would have got. */
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
    complete: ending === 'complete',
    head_ms: answer === null ? null : milliseconds(answer.head),
  };
}

const longestMessage = 300;

/** The `message` of the JSON that plugins answer with. */
function messageIn(body: string): string | null {
  try {
    const value: unknown = JSON.parse(body);
    const message = (value as { readonly message?: unknown } | null)?.message;
    return typeof message === 'string' ? message.slice(0, longestMessage) : null;
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
  // A header filter that fails answers nothing.
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
