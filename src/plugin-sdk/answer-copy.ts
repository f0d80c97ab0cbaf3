import { contentCodings, decodeContent, knowsCodings } from '../util/content-coding.ts';
import type { AnswerTap, ResponseHeadView } from './response-views.ts';

/**
 * Copies an answer while it streams by, up to `maxBytes`, and hands it on without its content coding when it is complete. Null: it is
 * known to be larger, or has a coding that cannot be taken off. What breaks off or turns out larger is not handed on.
 * `client`: the IP address of the client that the answer is for.
 */
export function answerCopy(
  response: ResponseHeadView,
  maxBytes: number,
  client: string,
  done: (body: Uint8Array) => void,
): AnswerTap | null {
  const codings = contentCodings(response.headerValues('content-encoding'));
  if (response.bodyLength > maxBytes || !knowsCodings(codings)) return null;
  let pieces: Buffer[] = [];
  let size = 0;
  return {
    chunk(piece) {
      if (size > maxBytes) return;
      size += piece.byteLength;
      if (size > maxBytes) pieces = [];
      else pieces.push(Buffer.from(piece));
    },
    end() {
      if (size > maxBytes) return;
      const body = Buffer.concat(pieces, size);
      pieces = [];
      if (codings.length === 0) done(body);
      // An answer whose coding is broken is the client's to find out.
      else void (async () => done(await decodeContent(body, codings, maxBytes, client)))().catch(() => undefined);
    },
    aborted() {
      pieces = [];
    },
  };
}
