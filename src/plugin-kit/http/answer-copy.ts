import type { AnswerTap, ResponseHeadView } from '../../plugin-sdk/response-views.ts';
import { contentCodings, decodeContent, supportsCodings } from '../../shared/util/bytes/content-coding.ts';

/**
 * A tap for `backendAnswer` that copies a response of at most `maxBytes` and passes the decoded body to `done` once it is complete.
 * Null: it is known to be larger, or has an unknown content coding. `done` is not called for an incomplete or larger response.
 * `client`: IP address of the client of the response.
 */
export function answerCopy(
  response: ResponseHeadView,
  maxBytes: number,
  client: string,
  done: (body: Uint8Array) => void,
): AnswerTap | null {
  const codings = contentCodings(response.headerValues('content-encoding'));
  if (response.bodyLength > maxBytes || !supportsCodings(codings)) return null;
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
