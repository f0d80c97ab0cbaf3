import { type BackendAnswer, BodySyntaxError, type JsonValue, mediaType, parseJson } from '../../plugin-sdk/index.ts';
import type { PartFailure } from './outcome.ts';
import type { Part } from './part.ts';

/** The value of an answer, `absent` when there is no such thing, or what is wrong with it. */
export type ReadAnswer =
  | { readonly kind: 'value'; readonly value: JsonValue }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly failure: PartFailure };

const none: ReadAnswer = Object.freeze({ kind: 'absent' });

export function readAnswer(part: Part, answer: BackendAnswer): ReadAnswer {
  const { status } = answer;
  if (status < 200 || status >= 300) {
    if (part.nullOnStatus.has(status)) return none;
    const passed = part.passStatus.has(status) ? status : status === 504 ? 504 : 502;
    return failed('status', `its backend answered ${status}`, passed);
  }
  if (answer.body.byteLength === 0) return { kind: 'value', value: null };
  if (answer.header('content-encoding') !== null)
    return failed('media-type', 'the answer has an unknown content coding');
  const format = formatOf(part.config.format, answer.header('content-type'));
  if (format === null) return failed('media-type', 'the answer is neither JSON nor XML');
  try {
    return { kind: 'value', value: parse(format, answer) };
  } catch (error) {
    if (error instanceof BodySyntaxError) return failed('malformed', error.message);
    throw error;
  }
}

type Format = 'json' | 'xml' | 'text';

function formatOf(wanted: 'auto' | Format, contentType: string | null): Format | null {
  if (wanted !== 'auto') return wanted;
  if (contentType === null) return 'json';
  const type = mediaType(contentType);
  if (type === null) return null;
  return type.isJson ? 'json' : type.isXml ? 'xml' : null;
}

function parse(format: Format, { body }: BackendAnswer): JsonValue {
  switch (format) {
    case 'json':
      return parseJson(body);
    case 'xml':
      throw new BodySyntaxError('JSON', 'it is XML', null);
    case 'text':
      return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  }
}

function failed(reason: PartFailure['reason'], message: string, status = 502): ReadAnswer {
  return { kind: 'failed', failure: { reason, status, message } };
}
