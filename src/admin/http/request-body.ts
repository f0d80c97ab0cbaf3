import { decodeForm, parseMultipart, parseUrlencoded } from '../../schema/form.ts';
import { jsonPosition } from '../hints/json-position.ts';
import { cannotParseJson, plainError, tooManyArguments, unsupportedMediaType, withHint } from './http-error.ts';

/** A decoded body. The values of a form are text still, to be read by the entity's schema. */
export interface RequestBody {
  readonly form: boolean;
  readonly value: Readonly<Record<string, unknown>>;
}

export const noBody: RequestBody = { form: false, value: {} };

/** Deeper JSON than any schema goes, and far from what would exhaust a stack. */
const deepestJson = 64;

/** What a body of that content type holds. Throws the 400 and 415 of Kong. */
export async function decodeBody(contentType: string | undefined, bytes: Uint8Array): Promise<RequestBody> {
  const type = contentType?.trimStart().toLowerCase() ?? '';
  if (type === '') {
    if (bytes.length === 0) return noBody;
    throw withHint(unsupportedMediaType(), acceptedTypes);
  }
  if (type.startsWith('application/json')) return { form: false, value: decodeJson(bytes) };
  if (type.startsWith('application/x-www-form-urlencoded')) return formBody(parseUrlencoded(decodeText(bytes)));
  if (type.startsWith('multipart/form-data')) return formBody(await readMultipart(bytes, contentType ?? ''));
  throw withHint(unsupportedMediaType(), acceptedTypes);
}

const acceptedTypes = 'send Content-Type: application/json, application/x-www-form-urlencoded or multipart/form-data';

function formBody(pairs: ReturnType<typeof parseUrlencoded>): RequestBody {
  if (pairs === null) throw tooManyArguments();
  const decoded = decodeForm(pairs);
  if (decoded.ok) return { form: true, value: decoded.value };
  throw decoded.reason === 'too many arguments' ? tooManyArguments() : plainError(400, 'Cannot parse form body');
}

function decodeJson(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  const value = parseJson(bytes);
  if (Array.isArray(value) && value.length === 0) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw withHint(cannotParseJson(), 'the body must be a JSON object');
  }
  refuseUnsafe(value, 0);
  return value as Readonly<Record<string, unknown>>;
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

/** A key `__proto__` is data in parsed JSON, but a trap for whatever copies it. */
function refuseUnsafe(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > deepestJson) throw cannotParseJson();
  if (Array.isArray(value)) {
    for (const element of value) refuseUnsafe(element, depth + 1);
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    if (key === '__proto__') throw cannotParseJson();
    refuseUnsafe(member, depth + 1);
  }
}

async function readMultipart(bytes: Uint8Array, contentType: string): ReturnType<typeof parseMultipart> {
  try {
    return await parseMultipart(bytes, contentType);
  } catch {
    throw plainError(400, 'Cannot parse multipart body');
  }
}

function decodeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8').decode(bytes);
}
