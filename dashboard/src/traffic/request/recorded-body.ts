import type { HeaderValues } from '../records.ts';

/** A recorded body; docs/traffic.md says when there is one. */
export interface RecordedBody {
  readonly mediaType: string | null;
  /** Of the whole body as it was sent; null: not known. */
  readonly bytes: number | null;
  readonly truncated: boolean;
  /** One of the next three is not null: the body, or why it is left out. */
  readonly text: string | null;
  readonly base64: string | null;
  readonly reason: string | null;
  /** It was sent in a content coding, and is shown without it. */
  readonly encoded: boolean;
}

/** Null: the record has no body, only its size. `headers`: of the message. */
export function recordedBody(body: unknown, headers: HeaderValues): RecordedBody | null {
  const {
    media_type: type,
    bytes,
    truncated,
    text,
    base64,
    reason,
  } = Object(body) as Readonly<Record<string, unknown>>;
  const recorded = {
    mediaType: typeof type === 'string' ? type : null,
    bytes: typeof bytes === 'number' ? bytes : null,
    truncated: truncated === true,
    text: typeof text === 'string' ? text : null,
    base64: typeof base64 === 'string' ? base64 : null,
    reason: typeof reason === 'string' ? reason : null,
    encoded: Object.keys(headers).some((name) => name.toLowerCase() === 'content-encoding'),
  };
  const isThere = [recorded.text, recorded.base64, recorded.reason].some((one) => one !== null);
  return isThere ? recorded : null;
}
