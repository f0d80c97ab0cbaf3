import { mediaType } from '../../../plugin-kit/http/index.ts';
import { bodyFault, type JsonValue, parseJson } from '../../../plugin-kit/json/index.ts';
import { OffThreadError, offThread } from '../../../plugin-kit/runtime/index.ts';
import type { BackendAnswer } from '../../../plugin-sdk/index.ts';
import type { LargeTexts } from '../large-text.ts';
import type { Part } from '../part.ts';
import { type BodyFormat, convert, type convertLarge, type LargeJob } from './convert.ts';
import { absent, noFailures, type Outcome, type PartFailure } from './outcome.ts';

/** Larger bodies are parsed in another thread: these take at most about 10 ms. */
const maxInlineBytes: Readonly<Record<BodyFormat, number>> = {
  json: 256 * 1024,
  xml: 64 * 1024,
  text: 1024 * 1024,
};
/** Values of larger bodies are written at once, so that a large document is not written all at its end. */
const minTextBytes = 64 * 1024;
/** Maximum characters of all values of a large response that other parts refer to. */
const maxReferencedLength = 256 * 1024;

const inThread = offThread<[Uint8Array, LargeJob], Awaited<ReturnType<typeof convertLarge>>>(
  new URL('./convert.ts', import.meta.url),
  'convertLarge',
);

/** Synchronous unless the response is large or XML. Never rejects because of its content. `client`: IP address. */
export function readResponse(
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
  if (body.byteLength === 0) return succeeded(part, null, answer, texts);
  if (answer.header('content-encoding') !== null) {
    return failed('media-type', 'the answer has an unknown content coding');
  }
  const contentType = answer.header('content-type');
  const format = formatOf(part.config.format, contentType);
  if (format === null) return failed('media-type', 'the answer is neither JSON nor XML');
  if (body.byteLength > maxInlineBytes[format]) return readLarge(part, answer, { format, contentType }, texts, client);
  if (format === 'json') {
    try {
      return succeeded(part, parseJson(body), answer, texts);
    } catch (error) {
      return malformed(error);
    }
  }
  return convert(body, { format, contentType, xml: part.xml }).then(
    (value) => succeeded(part, value, answer, texts),
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

function succeeded(part: Part, raw: JsonValue, answer: BackendAnswer, texts: LargeTexts): Outcome {
  const shaped = part.shape === null ? raw : part.shape(raw);
  const value = answer.body.byteLength > minTextBytes ? texts.hold(shaped, part.nestedTargets) : shaped;
  return { kind: 'there', raw, value, referenced: null, answer, failures: noFailures };
}

async function readLarge(
  part: Part,
  answer: BackendAnswer,
  { format, contentType }: { readonly format: BodyFormat; readonly contentType: string | null },
  texts: LargeTexts,
  client: string,
): Promise<Outcome> {
  const { xml, shapeConfig, nestedTargets, referenced } = part;
  try {
    const job = { format, contentType, xml, shape: shapeConfig, nestedTargets, references: referenced };
    const { skeleton, references } = await inThread.forClient(client, answer.body, job);
    if (references.length > maxReferencedLength) {
      return failed('too-large', 'what other parts refer to in its answer is too large');
    }
    const values = parseJson(references) as readonly JsonValue[][];
    const found = new Map<string, JsonValue>();
    for (const [at, [value]] of values.entries()) if (value !== undefined) found.set(referenced[at]!, value);
    const value = texts.valueOf(skeleton);
    return { kind: 'there', raw: null, value, referenced: found, answer, failures: noFailures };
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
