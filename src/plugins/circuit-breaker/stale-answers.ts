import { createHash } from 'node:crypto';
import {
  type AnswerTap,
  type BackendAnswerContext,
  backendReply,
  type Reply,
  type RequestView,
  type SharedStore,
} from '../../plugin-sdk/index.ts';

export interface StaleAnswersOptions {
  /** Shared by the workers of the node; the oldest go when its room is used up. */
  readonly store: SharedStore;
  /** Milliseconds. */
  readonly maxAge: number;
  readonly maxBody: number;
}

/**
 * The last good answers to requests that are the same for everybody: GET without credentials, 200, and neither `Set-Cookie` nor
 * a word against keeping them. Kept as the backend sent them, so that whatever plugins do to answers they do to these.
 */
export class StaleAnswers {
  readonly #options: StaleAnswersOptions;

  constructor(options: StaleAnswersOptions) {
    this.#options = options;
  }

  /** The last good answer to this request; null: there is none that may be shown. */
  find(request: RequestView, identified: boolean): Reply | null {
    const key = keyOf(request, identified);
    const kept = key === null ? null : this.#options.store.get(key);
    if (kept === null) return null;
    const since = kept.expires - this.#options.maxAge;
    const age = Math.max(0, Math.floor((Date.now() - since) / 1000));
    const headers = `${kept.meta.toString('latin1')}Age: ${age}\r\nWarning: 110 - "Response is Stale"\r\n`;
    return backendReply({ status: 200, headers, body: kept.body, fresh: false });
  }

  /** Takes a copy of the answer while it passes; null: it is not to be kept. */
  keep(context: BackendAnswerContext): AnswerTap | null {
    const { request, response, client } = context;
    const key = keyOf(request, client.consumer !== null || client.credential !== null);
    if (key === null || response.status !== 200 || !mayBeKept(response)) return null;
    const { store, maxAge, maxBody } = this.#options;
    const block = withoutAge(response.block());
    let pieces: Buffer[] = [];
    let size = 0;
    return {
      chunk: (piece) => {
        size += piece.byteLength;
        if (size <= maxBody) pieces.push(Buffer.from(piece));
        else pieces = [];
      },
      end: () => {
        if (size > maxBody) return;
        store.put(key, {
          meta: Buffer.from(block, 'latin1'),
          body: Buffer.concat(pieces),
          expires: Date.now() + maxAge,
        });
      },
      aborted: () => {},
    };
  }
}

/** It is told anew for each request. */
function withoutAge(block: string): string {
  return block.replace(/^(?:age|warning):[^\r]*\r\n/gim, '');
}

/** Null: the answer may be meant for one client only. */
function keyOf(request: RequestView, identified: boolean): string | null {
  if (request.method !== 'GET' || identified) return null;
  if (request.header('authorization') !== null || request.header('cookie') !== null) return null;
  if (request.header('range') !== null) return null;
  const accepted = ['accept', 'accept-encoding', 'accept-language'].map((name) => request.header(name) ?? '');
  const parts = [request.scheme, request.host, String(request.port), request.rawPath, request.query, ...accepted];
  return createHash('sha256').update(parts.join('\n'), 'latin1').digest('base64url');
}

function mayBeKept(response: BackendAnswerContext['response']): boolean {
  if (response.header('set-cookie') !== null) return false;
  const control = response.headerValues('cache-control').join(',').toLowerCase();
  if (/(?:^|[\s,])(?:no-store|private|no-cache)(?:$|[\s,=])/.test(control)) return false;
  // What else it varies by is not in the key.
  const vary = response.headerValues('vary').flatMap((line) => line.toLowerCase().split(/[\s,]+/));
  return vary.every((name) => ['', 'accept', 'accept-encoding', 'accept-language'].includes(name));
}
