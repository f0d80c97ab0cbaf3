import type { BodyTransform, HeaderFilterContext, Reply, RequestView } from '../../plugin-sdk/index.ts';

interface Kept {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
  readonly at: number;
  readonly size: number;
}

export interface StaleAnswersOptions {
  /** Milliseconds. */
  readonly maxAge: number;
  /** Bytes of all answers together. */
  readonly memory: number;
  readonly maxBody: number;
}

/** Set anew for each answer, or about the connection. */
const notKept: ReadonlySet<string> = new Set([
  'age',
  'connection',
  'content-length',
  'date',
  'server',
  'trailer',
  'transfer-encoding',
  'via',
  'x-kong-proxy-latency',
  'x-kong-request-id',
  'x-kong-upstream-latency',
]);

/**
 * The last good answers of this worker to requests that are the same for everybody: GET without credentials, 200, and
 * neither `Set-Cookie` nor a word against keeping them. The oldest go when the room is used up.
 */
export class StaleAnswers {
  readonly #options: StaleAnswersOptions;
  readonly #kept = new Map<string, Kept>();
  #size = 0;

  constructor(options: StaleAnswersOptions) {
    this.#options = options;
  }

  /** The last good answer to this request; null: there is none that may be shown. */
  find(request: RequestView, identified: boolean): Reply | null {
    const key = keyOf(request, identified);
    const kept = key === null ? undefined : this.#kept.get(key);
    if (kept === undefined) return null;
    const age = Date.now() - kept.at;
    if (age > this.#options.maxAge || age < 0) return null;
    const headers: (readonly [string, string])[] = [
      ...kept.headers,
      ['Age', String(Math.floor(age / 1000))],
      ['Warning', '110 - "Response is Stale"'],
    ];
    return { status: kept.status, headers, body: kept.body, message: null };
  }

  /** Takes a copy of the answer while it passes; null: it is not to be kept. */
  keep(context: HeaderFilterContext): BodyTransform | null {
    const { request, response, client } = context;
    const key = keyOf(request, client.consumer !== null || client.credential !== null);
    if (key === null || response.source !== 'upstream' || response.status !== 200 || !mayBeKept(response)) return null;
    const headers = Object.entries(response.headers())
      .filter(([name]) => !notKept.has(name))
      .flatMap(([name, values]) => values.map((value) => [name, value] as const));
    const pieces: Uint8Array[] = [];
    let size = 0;
    return {
      chunk: (piece) => {
        size += piece.byteLength;
        if (size <= this.#options.maxBody) pieces.push(Uint8Array.from(piece));
        else pieces.length = 0;
        return piece;
      },
      end: () => {
        if (size <= this.#options.maxBody) this.#put(key, headers, Buffer.concat(pieces));
        return null;
      },
    };
  }

  #put(key: string, headers: Kept['headers'], body: Uint8Array): void {
    this.#remove(key);
    const text = headers.reduce((sum, [name, value]) => sum + name.length + value.length, key.length);
    // Strings and objects around them take about as much again.
    const kept: Kept = { status: 200, headers, body, at: Date.now(), size: body.byteLength + 2 * text + 256 };
    this.#kept.set(key, kept);
    this.#size += kept.size;
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= this.#options.memory) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#size -= kept.size;
  }
}

/** Null: the answer may be meant for one client only. */
function keyOf(request: RequestView, identified: boolean): string | null {
  if (request.method !== 'GET' || identified) return null;
  if (request.header('authorization') !== null || request.header('cookie') !== null) return null;
  if (request.header('range') !== null) return null;
  const accepted = ['accept', 'accept-encoding', 'accept-language'].map((name) => request.header(name) ?? '');
  return [request.scheme, request.host, request.rawPath, request.query, ...accepted].join('\n');
}

function mayBeKept(response: HeaderFilterContext['response']): boolean {
  if (response.header('set-cookie') !== null) return false;
  const control = response.headerValues('cache-control').join(',').toLowerCase();
  if (/(?:^|[\s,])(?:no-store|private|no-cache)(?:$|[\s,=])/.test(control)) return false;
  // What else it varies by is not in the key.
  const vary = response.headerValues('vary').flatMap((line) => line.toLowerCase().split(/[\s,]+/));
  return vary.every((name) => ['', 'accept', 'accept-encoding', 'accept-language'].includes(name));
}
