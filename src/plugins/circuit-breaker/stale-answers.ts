import { createHash } from 'node:crypto';
import type { AccessContext, AnswerTap, BackendAnswerContext, Reply, SharedStore } from '../../plugin-sdk/index.ts';
import { backendReply, contextKey } from '../../plugin-sdk/index.ts';

export interface StaleAnswersOptions {
  /** Shared by the workers of the node; when it is full, the oldest answers are evicted. */
  readonly store: SharedStore;
  /** Milliseconds. */
  readonly maxAge: number;
  readonly maxBody: number;
}

/**
 * The last good answers that are the same for all clients: GET without credentials, status 200, no `Set-Cookie`, and no
 * directive against storing. Stored as the backend sent them, so that plugins change them like any other answer.
 */
export class StaleAnswers {
  readonly #options: StaleAnswersOptions;

  constructor(options: StaleAnswersOptions) {
    this.#options = options;
  }

  /** Computes the key now: later changes by plugins must not affect it. */
  note(context: AccessContext): void {
    const key = keyOf(context);
    if (key !== null) context.set(placeKey, key);
  }

  /** The last good answer to this request; null: no usable one. */
  find(context: AccessContext): Reply | null {
    const key = context.get(placeKey);
    const kept = key === undefined ? null : this.#options.store.get(key);
    if (kept === null) return null;
    const since = kept.expires - this.#options.maxAge;
    const age = Math.max(0, Math.floor((Date.now() - since) / 1000));
    const headers = `${kept.meta.toString('latin1')}Age: ${age}\r\nWarning: 110 - "Response is Stale"\r\n`;
    return backendReply({ status: 200, headers, body: kept.body, fresh: false });
  }

  /** Copies the answer while it streams; null: it must not be stored. */
  keep(context: BackendAnswerContext): AnswerTap | null {
    const { response } = context;
    const key = context.get(placeKey);
    if (key === undefined || response.status !== 200 || !mayBeKept(response)) return null;
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

/** Written for each request. */
function withoutAge(block: string): string {
  return block.replace(/^(?:age|warning):[^\r]*\r\n/gim, '');
}

const placeKey = contextKey<string>('stale answer');

/** Null: the answer may be meant for one client only. */
function keyOf({ request, client, route, upstream }: AccessContext): string | null {
  if (request.method !== 'GET' || request.bodyLength !== 0) return null;
  if (client.consumer !== null || client.credential !== null || client.details !== null) return null;
  if (request.header('authorization') !== null || request.header('cookie') !== null) return null;
  if (request.header('range') !== null) return null;
  const { scheme, host, port, rawPath, query } = request;
  // Routes, versions and rewrites may depend on values that are nowhere else in the key.
  const parts = [scheme, host, String(port), rawPath, query, route?.id ?? '', upstream.changes];
  for (const name of varying) parts.push(upstream.headerValues(name).join());
  return createHash('sha256').update(parts.join('\n')).digest('base64url');
}

/** Allowed names in `Vary`. */
const varying: readonly string[] = ['accept', 'accept-encoding', 'accept-language'];

function mayBeKept(response: BackendAnswerContext['response']): boolean {
  if (response.header('set-cookie') !== null) return false;
  const control = response.headerValues('cache-control').join(',').toLowerCase();
  if (/(?:^|[\s,])(?:no-store|private|no-cache)(?:$|[\s,=])/.test(control)) return false;
  // Other names are not in the key.
  const vary = response.headerValues('vary').flatMap((line) => line.toLowerCase().split(/[\s,]+/));
  return vary.every((name) => name === '' || varying.includes(name));
}
