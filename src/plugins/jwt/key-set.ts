import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { type OutageReporter, outageReporter } from '../../plugin-kit/logging/index.ts';
import { fetchDocument, shownUrl } from '../../plugin-kit/net/index.ts';
import type { PluginTools } from '../../plugin-sdk/index.ts';
import { type Algorithm, algorithmOf } from './algorithms.ts';

export interface KeySetOptions {
  readonly uri: string;
  readonly algorithms: ReadonlySet<string>;
  /** Milliseconds. */
  readonly ttl: number;
  readonly cooldown: number;
  readonly timeout: number;
  readonly verify: boolean;
}

interface Key {
  readonly id: string | null;
  readonly key: KeyObject;
  /** The algorithm that the key itself names; null: any that is valid for the key. */
  readonly algorithm: string | null;
}

/** Maximum keys of a set, and bytes of the document. */
const maxKeys = 100;
const maxBytes = 512 * 1024;
/** RFC 7518 section 3.3. */
const minRsaBits = 2048;

/** The issuer's keys are unknown, and currently unavailable. */
export class KeysUnavailable extends Error {
  constructor() {
    super('the key set cannot be fetched');
    this.name = 'KeysUnavailable';
  }
}

/**
 * The public keys of an issuer (RFC 7517 section 5). They are fetched on first use, in the background once they are older
 * than `ttl`, and when a token names an unknown key; never twice within `cooldown`. While the server is unavailable, the
 * known keys stay in use.
 */
export class KeySet {
  /** Changes with the keys: tokens that older keys verified must be verified again. */
  generation = 0;
  readonly #options: KeySetOptions;
  readonly #failed: OutageReporter;
  #keys: readonly Key[] = [];
  #known = false;
  #document = '';
  #fetchedAt = 0;
  #triedAt = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | null = null;

  constructor(options: KeySetOptions, tools: PluginTools) {
    this.#options = options;
    this.#failed = outageReporter(tools, 'jwks_failures', 'the key set cannot be fetched', {
      untilSuccess: true,
      fields: { jwks_uri: shownUrl(options.uri) },
    });
  }

  /** The key for a token with this `kid`, or null. Rejects with `KeysUnavailable` when no keys are known at all. */
  find(kid: unknown, algorithm: Algorithm): KeyObject | null | Promise<KeyObject | null> {
    this.keepFresh();
    const key = this.#known ? this.#pick(kid, algorithm) : null;
    if (key !== null) return key;
    if (!this.#mayFetch() && this.#fetching === null) {
      return this.#known ? null : Promise.reject(new KeysUnavailable());
    }
    return this.#fetch().then(() => {
      if (!this.#known) throw new KeysUnavailable();
      return this.#pick(kid, algorithm);
    });
  }

  #pick(kid: unknown, algorithm: Algorithm): KeyObject | null {
    if (!this.#options.algorithms.has(algorithm.name) || algorithm.symmetric) return null;
    const fits = ({ key, algorithm: own }: Key): boolean =>
      (own === null || own === algorithm.name) && algorithm.takes(key);
    if (typeof kid === 'string') return this.#keys.find((one) => one.id === kid && fits(one))?.key ?? null;
    // Without a `kid` the key must be unambiguous.
    const candidates = kid === undefined ? this.#keys.filter(fits) : [];
    return candidates.length === 1 ? candidates[0]!.key : null;
  }

  /** Refreshes old keys in the background. Call it with each use, cached tokens included. */
  keepFresh(): void {
    const old = this.#known && performance.now() - this.#fetchedAt > this.#options.ttl;
    if (old && this.#mayFetch()) void this.#fetch();
  }

  #mayFetch(): boolean {
    return performance.now() - this.#triedAt >= this.#options.cooldown;
  }

  /** One fetch at a time for all callers. Never rejects. */
  #fetch(): Promise<void> {
    this.#fetching ??= this.#fetchNow().finally(() => {
      this.#fetching = null;
    });
    return this.#fetching;
  }

  async #fetchNow(): Promise<void> {
    const { uri, timeout, verify } = this.#options;
    this.#triedAt = performance.now();
    try {
      const { status, body } = await fetchDocument(uri, { timeout, verify, maxBytes });
      if (status !== 200) throw new Error(`status ${status}`);
      this.#take(body.toString('utf8'));
      this.#failed.succeeded();
    } catch (error) {
      this.#failed(error);
    }
  }

  #take(document: string): void {
    const keys = parseKeys(document);
    this.#fetchedAt = performance.now();
    this.#known = true;
    if (document === this.#document) return;
    this.#document = document;
    this.#keys = keys;
    this.generation++;
  }
}

/** The usable keys of a set; others, in particular symmetric ones, are ignored. Throws when it is not a key set. */
function parseKeys(document: string): readonly Key[] {
  const { keys } = JSON.parse(document) as { readonly keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('it is not a JWK set');
  return keys.slice(0, maxKeys).flatMap((jwk: unknown) => {
    const key = parseKey(jwk);
    return key === null ? [] : [key];
  });
}

function parseKey(jwk: unknown): Key | null {
  if (typeof jwk !== 'object' || jwk === null) return null;
  const { kid, alg, use, kty } = jwk as Readonly<Record<string, unknown>>;
  if (kty === 'oct' || (use !== undefined && use !== 'sig')) return null;
  if (alg !== undefined && algorithmOf(alg) === null) return null;
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    if (key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) < minRsaBits) return null;
    return { id: typeof kid === 'string' ? kid : null, key, algorithm: typeof alg === 'string' ? alg : null };
  } catch {
    return null;
  }
}
