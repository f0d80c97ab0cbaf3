import {
  type BackendAnswer,
  type JsonValue,
  mediaType,
  OffThreadError,
  offThread,
  parseJson,
} from '../../plugin-sdk/index.ts';
import { bodyFault } from '../../plugin-sdk/xml-errors.ts';
import { type BodyFormat, convert, type convertLarge, type LargeJob } from './convert.ts';
import type { LargeTexts } from './large-text.ts';
import { absent, noFailures, type Outcome, type PartFailure } from './outcome.ts';
import type { Part } from './part.ts';

/** Values of a large answer, by their paths. */
export type Referred = ReadonlyMap<string, JsonValue>;

/** Bytes that are read in the thread that serves clients: about 10 ms of its time at most. */
const largestInline: Readonly<Record<BodyFormat, number>> = {
  json: 256 * 1024,
  xml: 64 * 1024,
  text: 1024 * 1024,
};
/** Bytes of which the text is written at once, so that not all of a large document is written at its end. */
const largestValue = 64 * 1024;
/** Characters of all that others refer to in a large answer. */
const mostReferred = 256 * 1024;

const inThread = offThread<[Uint8Array, LargeJob], Awaited<ReturnType<typeof convertLarge>>>(
  new URL('./convert.ts', import.meta.url),
  'convertLarge',
);

/** At once, unless it is large or XML. Never rejects because of what is in the answer. `client`: IP address. */
export function readAnswer(
  part: Part,
  answer: BackendAnswer,
  texts: LargeTexts,
  client: string,
): Outcome | Promise<Outcome> {
  const { status, body } = answer;
  if (status < 200 || status >= 300 || status === 206) {
    if (part.nullOnStatus.has(status)) return absent;
    const passed = part.passStatus.has(status) ? status : status === 504 ? 504 : 502;
    return failed('status', `its backend answered ${status}`, passed);
  }
  if (body.byteLength === 0) return there(part, null, answer, texts);
  if (answer.header('content-encoding') !== null) {
    return failed('media-type', 'the answer has an unknown content coding');
  }
  const contentType = answer.header('content-type');
  const format = formatOf(part.config.format, contentType);
  if (format === null) return failed('media-type', 'the answer is neither JSON nor XML');
  if (body.byteLength > largestInline[format]) return readLarge(part, answer, { format, contentType }, texts, client);
  if (format === 'json') {
    try {
      return there(part, parseJson(body), answer, texts);
    } catch (error) {
      return malformed(error);
    }
  }
  return convert(body, { format, contentType, xml: part.xml }).then(
    (value) => there(part, value, answer, texts),
    malformed,
  );
}

function formatOf(wanted: 'auto' | BodyFormat, contentType: string | null): BodyFormat | null {
  if (wanted !== 'auto') return wanted;
  if (contentType === null || contentType === 'application/json') return 'json';
  const type = mediaType(contentType);
  if (type === null) return null;
  return type.isJson ? 'json' : type.isXml ? 'xml' : null;
}

function there(part: Part, raw: JsonValue, answer: BackendAnswer, texts: LargeTexts): Outcome {
  const shaped = part.shape === null ? raw : part.shape(raw);
  const value = answer.body.byteLength > largestValue ? texts.hold(shaped, part.opening) : shaped;
  return { kind: 'there', raw, value, referred: null, answer, failures: noFailures };
}

async function readLarge(
  part: Part,
  answer: BackendAnswer,
  { format, contentType }: { readonly format: BodyFormat; readonly contentType: string | null },
  texts: LargeTexts,
  client: string,
): Promise<Outcome> {
  const { xml, shapeConfig, opening, referred } = part;
  try {
    const job = { format, contentType, xml, shape: shapeConfig, opening, references: referred };
    const { skeleton, references } = await inThread.forClient(client, answer.body, job);
    if (references.length > mostReferred) {
      return failed('too-large', 'what other parts refer to in its answer is too large');
    }
    const values = parseJson(references) as readonly JsonValue[][];
    const found = new Map<string, JsonValue>();
    for (const [at, [value]] of values.entries()) if (value !== undefined) found.set(referred[at]!, value);
    const value = texts.valueOf(skeleton);
    return { kind: 'there', raw: null, value, referred: found, answer, failures: noFailures };
  } catch (error) {
    return malformed(error);
  }
}

function malformed(error: unknown): Outcome {
  if (bodyFault(error) !== null) return failed('malformed', (error as Error).message);
  if (error instanceof OffThreadError) return failed('too-large', 'its answer could not be read in time');
  throw error;
}

function failed(reason: PartFailure['reason'], message: string, status = 502): Outcome {
  return { kind: 'failed', failure: { reason, status, message } };
}
