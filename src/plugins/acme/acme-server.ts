import { createPrivateKey, type JsonWebKey, type KeyObject, sign } from 'node:crypto';
import { type FetchedDocument, fetchDocument } from '../../plugin-kit/net/index.ts';
import { AcmeProblem, problemOf, shortText } from './acme-problem.ts';

/** Timeout of one call, in milliseconds. */
const callTimeout = 20_000;
const maxResponseBytes = 256 * 1024;

/** RFC 8555, 6.5: a server may refuse any nonce, and sends a new one with the refusal. */
const maxNonceTries = 8;

export interface AcmeServerOptions {
  /** The directory. */
  readonly url: string;
  /** PEM of the trusted certificate authorities; null: the built-in ones. */
  readonly ca: string | null;
  /** Cancels pending calls. */
  readonly signal: AbortSignal;
}

/** Signs a call: an account with its URL, or with its key before it has a URL. */
export interface Signer {
  readonly key: JsonWebKey;
  readonly url: string | null;
}

export interface AcmeResponse {
  readonly status: number;
  /** `Location`: the URL of the created resource; null: absent. */
  readonly location: string | null;
  /** The URLs of `Link: <url>;rel="alternate"`. */
  readonly alternates: readonly string[];
  /** `Retry-After` in seconds; null: absent. */
  readonly retryAfter: number | null;
  readonly body: string;
  /** The body as an object; empty if it is not one. */
  readonly json: Readonly<Record<string, unknown>>;
}

interface Directory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
}

/** Signed calls to an ACME server (RFC 8555, section 6). All calls have a timeout and a maximum response size. */
export class AcmeServer {
  readonly #options: AcmeServerOptions;
  readonly #keys = new WeakMap<JsonWebKey, KeyObject>();
  #directory: Directory | null = null;
  #nonce: string | null = null;

  constructor(options: AcmeServerOptions) {
    this.#options = options;
  }

  async directory(): Promise<Directory> {
    this.#directory ??= this.#readDirectory(await this.#fetch(this.#options.url));
    return this.#directory;
  }

  /** `payload` null: reads (POST-as-GET). Rejects with an `AcmeProblem` if the server refuses. */
  async post(url: string, payload: object | null, signer: Signer): Promise<AcmeResponse> {
    for (let tries = 1; ; tries++) {
      const answer = await this.#fetch(
        this.#sameServer(url),
        this.#sign(url, payload, signer, await this.#takeNonce()),
      );
      if (answer.status >= 200 && answer.status < 300) return readResponse(answer);
      const problem = problemOf(answer);
      if (!problem.is('badNonce') || tries >= maxNonceTries) throw problem;
    }
  }

  #readDirectory(answer: FetchedDocument): Directory {
    if (answer.status !== 200) throw problemOf(answer);
    const found = jsonOf(answer.body.toString('utf8'));
    const at = (name: keyof Directory): string => {
      const url = found[name];
      if (typeof url !== 'string') throw new AcmeProblem('malformed', `the directory has no ${name}`);
      return this.#sameServer(url);
    };
    return { newNonce: at('newNonce'), newAccount: at('newAccount'), newOrder: at('newOrder') };
  }

  /** If the directory was read over TLS, nothing is sent without TLS. */
  #sameServer(url: string): string {
    const wanted = new URL(this.#options.url).protocol;
    if (URL.parse(url)?.protocol !== wanted)
      throw new AcmeProblem('malformed', `not a ${wanted} URL: ${shortText(url)}`);
    return url;
  }

  async #takeNonce(): Promise<string> {
    const { newNonce } = await this.directory();
    if (this.#nonce === null) await this.#fetch(newNonce);
    const nonce = this.#nonce;
    this.#nonce = null;
    if (nonce === null) throw new AcmeProblem('malformed', 'the server gave no nonce');
    return nonce;
  }

  #sign(url: string, payload: object | null, { key, url: kid }: Signer, nonce: string): string {
    const identity = kid === null ? { jwk: publicJwk(key) } : { kid };
    const header = base64url(JSON.stringify({ alg: 'ES256', nonce, url, ...identity }));
    const body = payload === null ? '' : base64url(JSON.stringify(payload));
    let privateKey = this.#keys.get(key);
    if (privateKey === undefined) {
      privateKey = createPrivateKey({ key, format: 'jwk' });
      this.#keys.set(key, privateKey);
    }
    const signature = sign('sha256', Buffer.from(`${header}.${body}`), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return JSON.stringify({ protected: header, payload: body, signature: signature.toString('base64url') });
  }

  async #fetch(url: string, body?: string): Promise<FetchedDocument> {
    const { ca, signal } = this.#options;
    const answer = await fetchDocument(url, {
      headers: { 'User-Agent': 'sluicegate', 'Content-Type': 'application/jose+json', 'Accept-Language': 'en' },
      timeout: callTimeout,
      maxBytes: maxResponseBytes,
      signal,
      ...(ca === null ? {} : { ca }),
      ...(body === undefined ? {} : { method: 'POST' as const, body }),
    });
    const nonce = answer.headers['replay-nonce'];
    if (typeof nonce === 'string' && /^[A-Za-z0-9_-]+$/.test(nonce)) this.#nonce = nonce;
    return answer;
  }
}

/** The public members of an EC key, in the order of RFC 7638. */
export function publicJwk({ crv, kty, x, y }: JsonWebKey): JsonWebKey {
  return { crv, kty, x, y } as JsonWebKey;
}

export function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

function readResponse({ status, headers, body }: FetchedDocument): AcmeResponse {
  const text = body.toString('utf8');
  const links = [headers['link'] ?? []].flat().flatMap((line) => line.split(/,(?=\s*<)/));
  const seconds = Number(headers['retry-after']);
  return {
    status,
    location: typeof headers['location'] === 'string' ? headers['location'] : null,
    alternates: links.flatMap((link) => /^\s*<([^>]+)>\s*;(?:.*;)?\s*rel="?alternate"?/i.exec(link)?.[1] ?? []),
    retryAfter: Number.isFinite(seconds) && seconds > 0 ? seconds : null,
    body: text,
    json: jsonOf(text),
  };
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  if (!text.startsWith('{')) return {};
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
