import { readJson } from '../../declarative/document/read-json.ts';
import type { RawBody } from '../http/admin-route.ts';
import { cannotParseJson, plainError, unsupportedMediaType, withHint } from '../http/http-error.ts';
import { decodeFormBody, isForm } from '../http/request-body.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A declarative document as it was sent. */
export type SentDocument =
  /** YAML or JSON, not parsed yet. */
  | { readonly kind: 'text'; readonly text: string }
  /** A JSON body that is the document. */
  | { readonly kind: 'json'; readonly text: string; readonly content: Fields };

const yamlTypes = ['application/yaml', 'text/yaml'];
const acceptedTypes =
  'send Content-Type: application/json, application/yaml, text/yaml, application/x-www-form-urlencoded or multipart/form-data';

/**
 * Reads a body with a declarative document: a JSON document, a field `config` with YAML or JSON text, in JSON or a form, or YAML as it
 * stands. Throws the answer to anything else, and a `DocumentError` where parsers of JSON differ.
 */
export function readSentDocument(raw: RawBody | null): SentDocument {
  const bytes = raw?.bytes ?? new Uint8Array();
  const type = raw?.type?.trimStart().toLowerCase() ?? '';
  if (bytes.length === 0) throw missingDocument();
  if (yamlTypes.some((yaml) => type.startsWith(yaml))) return { kind: 'text', text: textOf(bytes) };
  if (type.startsWith('application/json')) return jsonDocument(textOf(bytes));
  if (isForm(type)) return fieldOf(decodeFormBody(raw?.type ?? '', bytes).value);
  throw withHint(unsupportedMediaType(), acceptedTypes);
}

function jsonDocument(text: string): SentDocument {
  const content = readJson(text);
  if (content === undefined) throw cannotParseJson();
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw withHint(cannotParseJson(), 'the body must be a JSON object');
  }
  const fields = content as Fields;
  if (!('_format_version' in fields) && 'config' in fields) return fieldOf(fields);
  return { kind: 'json', text, content: fields };
}

function fieldOf({ config }: Fields): SentDocument {
  if (typeof config !== 'string' || config === '') throw missingDocument();
  return { kind: 'text', text: config };
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw plainError(400, 'the declarative configuration is not valid UTF-8');
  }
}

const missingDocument = () => plainError(400, 'expected a declarative configuration');
