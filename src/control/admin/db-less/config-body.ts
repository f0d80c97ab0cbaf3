import type { ConfigDocument } from '../../declarative/contract.ts';
import { hashText } from '../../declarative/document/canonical-hash.ts';
import { textPositions } from '../../declarative/document/text-positions.ts';
import { readSentDocument } from '../config/sent-document.ts';
import type { RawBody } from '../http/admin-route.ts';

/** The document of `POST /config`. */
export type ConfigBody =
  /** Not parsed yet. `hash`: its MD5. */
  | { readonly text: string; readonly hash: string }
  /** A JSON body that is the document, which is loaded whatever its hash. */
  | { readonly document: ConfigDocument };

/** Throws the answer to a body without a document, and a `DocumentError` where parsers of JSON differ. */
export function readConfigBody(raw: RawBody | null): ConfigBody {
  const sent = readSentDocument(raw);
  const { text } = sent;
  if (sent.kind === 'text') return { text, hash: hashText(text) };
  const positionOf = textPositions(text, { format: 'json' });
  return { document: { content: sent.content, hash: hashText(text), positionOf } };
}
