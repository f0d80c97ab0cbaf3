import { type ConfigDocument, DocumentError } from '../../declarative/contract.ts';
import { documentFrom, parseDocument } from '../../declarative/document/parse-document.ts';
import type { RawBody } from '../http/admin-route.ts';
import { HttpError } from '../http/http-error.ts';
import { readSentDocument, type SentDocument } from './sent-document.ts';

/** The document in a body; decK's additions to the format are accepted. Throws the answer to anything else. */
export function readDocumentBody(raw: RawBody | null): ConfigDocument {
  return readDocument(() => readSentDocument(raw));
}

/** The same for a document from elsewhere. */
export function readDocument(read: () => SentDocument): ConfigDocument {
  try {
    const sent = read();
    return sent.kind === 'text' ? parseDocument(sent.text, { deck: true }) : documentFrom(sent.content, { deck: true });
  } catch (error) {
    throw error instanceof DocumentError ? unreadable(error) : error;
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
