import type { ConfigDocument } from '../../declarative/contract.ts';
import { hashText } from '../../declarative/document/canonical-hash.ts';
import { readJson } from '../../declarative/document/read-json.ts';
import { textPositions } from '../../declarative/document/text-positions.ts';
import type { RawBody } from '../http/admin-route.ts';
import { cannotParseJson, plainError, unsupportedMediaType, withHint } from '../http/http-error.ts';
import { decodeFormBody, isForm } from '../http/request-body.ts';

/** A declarative document as it was sent. */
export type SentDocument =
  /** YAML or JSON, not parsed yet. `hash`: its MD5. */
  | { readonly text: string; readonly hash: string }
  /** A JSON body that is the document, which is loaded whatever its hash. */
  | { readonly document: ConfigDocument };

const yamlTypes = ['application/yaml', 'text/yaml'];
const acceptedTypes =
  'send Content-Type: application/json, application/yaml, text/yaml, application/x-www-form-urlencoded or multipart/form-data';

/**
 * Reads the body of `POST /config`: a JSON document, a field `config` with YAML or JSON text, in JSON or a form, or YAML as it
 * stands. Throws the answer to anything else, and a `DocumentError` where parsers of JSON differ.
 */
export function readConfigBody({ type, bytes }: RawBody): SentDocument {
  const mediaType = type?.trimStart().toLowerCase() ?? '';
  if (bytes.length === 0) throw missingDocument();
  if (yamlTypes.some((yaml) => mediaType.startsWith(yaml))) return textDocument(decodeText(bytes));
  if (mediaType.startsWith('application/json')) return jsonDocument(bytes);
  if (isForm(mediaType)) return fieldOf(decodeFormBody(type ?? '', bytes).value);
  throw withHint(unsupportedMediaType(), acceptedTypes);
}

function jsonDocument(bytes: Uint8Array): SentDocument {
  const text = decodeText(bytes);
  const content = readJson(text);
  if (content === undefined) throw cannotParseJson();
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw withHint(cannotParseJson(), 'the body must be a JSON object');
  }
  const fields = content as Readonly<Record<string, unknown>>;
  if (!('_format_version' in fields) && 'config' in fields) return fieldOf(fields);
  return { document: { content: fields, hash: hashText(text), positionOf: textPositions(text, { format: 'json' }) } };
}

function fieldOf({ config }: Readonly<Record<string, unknown>>): SentDocument {
  if (typeof config !== 'string' || config === '') throw missingDocument();
  return textDocument(config);
}

function textDocument(text: string): SentDocument {
  return { text, hash: hashText(text) };
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw plainError(400, 'the declarative configuration is not valid UTF-8');
  }
}

const missingDocument = () => plainError(400, 'expected a declarative configuration');
