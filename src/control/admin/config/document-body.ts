import { type ConfigDocument, DocumentError } from '../../declarative/contract.ts';
import { documentFrom, parseDocument } from '../../declarative/document/parse-document.ts';
import { readJson } from '../../declarative/document/read-json.ts';
import type { RawBody } from '../http/admin-route.ts';
import { cannotParseJson, HttpError, plainError, unsupportedMediaType, withHint } from '../http/http-error.ts';
import { decodeFormBody, isForm } from '../http/request-body.ts';

const yamlTypes = ['application/yaml', 'text/yaml'];
const acceptedTypes =
  'send Content-Type: application/json, application/yaml, text/yaml, application/x-www-form-urlencoded or multipart/form-data';

/**
 * The document in a body: JSON, YAML, or a form with the field `config`. decK's additions to the format are accepted. Throws the answer to
 * anything else.
 */
export function readDocumentBody(raw: RawBody | null): ConfigDocument {
  const bytes = raw?.bytes ?? new Uint8Array();
  const type = raw?.type?.trimStart().toLowerCase() ?? '';
  if (bytes.length === 0) throw missingDocument();
  try {
    if (yamlTypes.some((yaml) => type.startsWith(yaml))) return parseDocument(textOf(bytes), { deck: true });
    if (type.startsWith('application/json')) return jsonDocument(textOf(bytes));
    if (isForm(type)) return fieldDocument(decodeFormBody(raw?.type ?? '', bytes).value['config']);
  } catch (error) {
    throw error instanceof DocumentError ? unreadable(error) : error;
  }
  throw withHint(unsupportedMediaType(), acceptedTypes);
}

function jsonDocument(text: string): ConfigDocument {
  const content = readJson(text);
  if (content === undefined) throw cannotParseJson();
  if (typeof content === 'object' && content !== null && !('_format_version' in content) && 'config' in content) {
    return fieldDocument(content.config);
  }
  return documentFrom(content, { deck: true });
}

function fieldDocument(config: unknown): ConfigDocument {
  if (typeof config !== 'string' || config === '') throw missingDocument();
  return parseDocument(config, { deck: true });
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw plainError(400, 'the declarative configuration is not valid UTF-8');
  }
}

function unreadable({ message, position }: DocumentError): HttpError {
  const at = position === null ? '' : `line ${position.line}, column ${position.column}: `;
  const problem = { place: '', path: [], ...position, message };
  return new HttpError(400, {
    message: `the declarative configuration cannot be read: ${at}${message}`,
    problems: [problem],
  });
}

const missingDocument = (): HttpError => plainError(400, 'expected a declarative configuration');
