import { createPrivateKey, type JsonWebKey, type KeyObject, sign } from 'node:crypto';
import { type FetchedDocument, fetchDocument } from '../../plugin-sdk/index.ts';
import { AcmeProblem, problemOf, shortText } from './acme-problem.ts';

/** For one call, in milliseconds. */
const callTimeout = 20_000;
const largestAnswer = 256 * 1024;

/** RFC 8555, 6.5: a nonce may be refused at any time, and a new one comes with the refusal. */
const nonceTries = 8;

export interface AcmeServerOptions {
  /** The directory. */
  readonly url: string;
  /** PEM of the authorities to trust; null: the built-in ones. */
  readonly ca: string | null;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

/** Who signs a call: an account by its URL or, before it has one, by its key. */
export interface Signer {
  readonly key: JsonWebKey;
  readonly url: string | null;
}

export interface AcmeAnswer {
  readonly status: number;
  /** URL of what was made; null: the answer names none. */
  readonly location: string | null;
  /** URLs that the answer names by `Link: <url>;rel="alternate"`. */
  readonly alternates: readonly string[];
  /** Seconds that the server asks to wait; null: it does not say. */
  readonly retryAfter: number | null;
  readonly body: string;
  /** The body as an object; empty when it is none. */
  readonly json: Readonly<Record<string, unknown>>;
}

interface Directory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
}

/** Signed calls to an ACME server (RFC 8555, section 6). All of them have a deadline and a limit to the answer. */
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

  /** `payload` null: reads (POST-as-GET). Rejects with an `AcmeProblem` when the server refuses. */
  async post(url: string, payload: object | null, signer: Signer): Promise<AcmeAnswer> {
    for (let tries = 1; ; tries++) {
      const answer = await this.#fetch(
        this.#sameServer(url),
        this.#sign(url, payload, signer, await this.#takeNonce()),
      );
      if (answer.status >= 200 && answer.status < 300) return readAnswer(answer);
      const problem = problemOf(answer);
      if (!problem.is('badNonce') || tries >= nonceTries) throw problem;
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

  /** What is signed for the server is never sent in clear when its directory was read by TLS. */
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
    const identity = kid === null ? { jwk: publicPart(key) } : { kid };
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
      maxBytes: largestAnswer,
      signal,
      ...(ca === null ? {} : { ca }),
      ...(body === undefined ? {} : { method: 'POST' as const, body }),
    });
    const nonce = answer.headers['replay-nonce'];
    if (typeof nonce === 'string' && /^[A-Za-z0-9_-]+$/.test(nonce)) this.#nonce = nonce;
    return answer;
  }
}

/** The members of an EC key that others may know, in the order of RFC 7638. */
export function publicPart({ crv, kty, x, y }: JsonWebKey): JsonWebKey {
  return { crv, kty, x, y } as JsonWebKey;
}

export function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

function readAnswer({ status, headers, body }: FetchedDocument): AcmeAnswer {
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
