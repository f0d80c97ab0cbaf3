import { setImmediate as nextTurn } from 'node:timers/promises';
import { decodeForm, type FormPair, parseMultipart, parseUrlencoded } from '../../../shared/schema/form.ts';
import { createSerialQueue } from '../../../shared/util/time/serial-queue.ts';
import { jsonPosition } from '../hints/json-position.ts';
import {
  cannotParseJson,
  type HttpError,
  plainError,
  tooManyArguments,
  unsupportedMediaType,
  withHint,
} from './http-error.ts';
import { type JsonExcess, JsonLimits, maxDepth, maxShortText, maxValues } from './json-limits.ts';

/** A decoded body. The values of a form are still text, which the entity's schema converts. */
export interface RequestBody {
  readonly form: boolean;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Other methods have no body, whatever is sent. */
export const methodsWithBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

export const noBody: RequestBody = { form: false, value: {} };

/** Bytes from which a body is large. Large bodies are decoded one at a time, so that many delay other work no longer than one does. */
const largeBody = 65_536;
/** Bytes that are scanned before the thread yields to other work. */
const slice = 1_048_576;
const inTurn = createSerialQueue();

/** Decodes a body of that content type. Throws the 400 and 415 of Kong. */
export function decodeBody(contentType: string | undefined, bytes: Uint8Array): Promise<RequestBody> {
  if (bytes.length < largeBody) return decode(contentType, bytes);
  return inTurn(async () => {
    await nextTurn();
    const body = await decode(contentType, bytes);
    await nextTurn();
    return body;
  });
}

async function decode(contentType: string | undefined, bytes: Uint8Array): Promise<RequestBody> {
  const type = contentType?.trimStart().toLowerCase() ?? '';
  if (type === '') {
    if (bytes.length === 0) return noBody;
    throw withHint(unsupportedMediaType(), acceptedTypes);
  }
  if (type.startsWith('application/json')) return { form: false, value: await decodeJson(bytes) };
  if (isForm(type)) return decodeFormBody(contentType ?? '', bytes);
  throw withHint(unsupportedMediaType(), acceptedTypes);
}

/** `type`: in lower case. */
export function isForm(type: string): boolean {
  return type.startsWith('application/x-www-form-urlencoded') || type.startsWith('multipart/form-data');
}

const acceptedTypes = 'send Content-Type: application/json, application/x-www-form-urlencoded or multipart/form-data';

/** The text fields of a form. */
export function decodeFormBody(contentType: string, bytes: Uint8Array): RequestBody {
  return contentType.trimStart().toLowerCase().startsWith('multipart/form-data')
    ? formBody(readMultipart(bytes, contentType))
    : formBody(parseUrlencoded(decodeText(bytes)));
}

function formBody(pairs: ReturnType<typeof parseUrlencoded>): RequestBody {
  if (pairs === null) throw tooManyArguments();
  const decoded = decodeForm(pairs);
  if (decoded.ok) return { form: true, value: decoded.value };
  throw decoded.reason === 'too many arguments' ? tooManyArguments() : plainError(400, 'Cannot parse form body');
}

async function decodeJson(bytes: Uint8Array): Promise<Readonly<Record<string, unknown>>> {
  await checkLimits(bytes);
  const value = parseJson(bytes);
  if (Array.isArray(value) && value.length === 0) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw withHint(cannotParseJson(), 'the body must be a JSON object');
  }
  refuseUnsafe(value);
  return value as Readonly<Record<string, unknown>>;
}

async function checkLimits(bytes: Uint8Array): Promise<void> {
  const limits = new JsonLimits();
  for (let at = 0; at < bytes.length; at += slice) {
    if (at > 0) await nextTurn();
    const excess = limits.scan(bytes.subarray(at, at + slice));
    if (excess !== null) throw refusals[excess]();
  }
}

const refusals: Readonly<Record<JsonExcess, () => HttpError>> = {
  values: tooManyValues,
  depth: () => withHint(cannotParseJson(), `the body is nested deeper than ${maxDepth} levels`),
  text: () => plainError(400, `Too much text in the body: at most ${maxShortText} bytes in texts below 64 kB`),
};

function tooManyValues(): HttpError {
  return plainError(400, `Too many values in the body: at most ${maxValues}`);
}

function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw withHint(cannotParseJson(), 'the body is not valid UTF-8');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw withHint(cannotParseJson(), jsonPosition(text, error));
  }
}

/** A key `__proto__` is data in parsed JSON, but changes the prototype when an object is copied. */
function refuseUnsafe(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const element of value) refuseUnsafe(element);
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    if (key === '__proto__') throw cannotParseJson();
    refuseUnsafe(member);
  }
}

function readMultipart(bytes: Uint8Array, contentType: string): readonly FormPair[] {
  const pairs = parseMultipart(bytes, contentType);
  if (pairs === 'invalid') throw plainError(400, 'Cannot parse multipart body');
  if (pairs === 'too many arguments') throw tooManyArguments();
  return pairs;
}

function decodeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8').decode(bytes);
}
