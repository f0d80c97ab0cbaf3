import type { OutageReporter } from '../../plugin-kit/logging/index.ts';
import { BoundedCache } from '../../plugin-kit/runtime/index.ts';
import type { AcceptedToken } from './identity.ts';
import { type Jose, jose } from './jose.ts';
import type { Metadata, ProviderDocuments } from './provider-documents.ts';
import type { OpenIdConfig } from './schema.ts';

export interface ProviderState {
  readonly metadata: Metadata;
  readonly keys: KeySet;
}

/** A version of the keys, and the tokens that were verified with it: both are discarded together. */
export interface KeySet {
  readonly resolve: ReturnType<Jose['createLocalJWKSet']>;
  readonly verified: BoundedCache<string, AcceptedToken>;
  /** The document: the keys are equal if the text is. */
  readonly text: string;
}

const maxKeys = 100;
const maxVerified = 10_000;
/** Milliseconds between attempts before the first success. */
const firstCooldown = 1000;

/** The configuration and keys of the provider: loaded once, then kept even if the provider becomes unavailable. */
export class Provider {
  readonly documents: ProviderDocuments;
  readonly #config: OpenIdConfig;
  readonly #failed: OutageReporter;
  #state: ProviderState | null = null;
  #loading: Promise<ProviderState> | null = null;
  /** On the clock of `performance.now()`. */
  #loadedAt = 0;
  #nextAttempt = 0;

  constructor(config: OpenIdConfig, documents: ProviderDocuments, failed: OutageReporter) {
    this.#config = config;
    this.documents = documents;
    this.#failed = failed;
  }

  /** Rejects until the provider has responded once. */
  state(): ProviderState | Promise<ProviderState> {
    const state = this.#state;
    const now = performance.now();
    if (state === null) {
      if (this.#loading === null && now < this.#nextAttempt)
        return Promise.reject(new Error('the provider is unavailable'));
      return this.#load();
    }
    if (now - this.#loadedAt > this.#config.cache_ttl * 1000 && now >= this.#nextAttempt) this.#load().catch(() => {});
    return state;
  }

  /** For a key that `known` does not contain: the state with newer keys, or null if there are none now. */
  async newer(known: ProviderState): Promise<ProviderState | null> {
    if (this.#state !== null && this.#state.keys !== known.keys) return this.#state;
    if (this.#loading === null && performance.now() < this.#nextAttempt) return null;
    const state = await this.#load().catch(() => null);
    return state === null || state.keys === known.keys ? null : state;
  }

  #load(): Promise<ProviderState> {
    this.#loading ??= this.#fetch().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #fetch(): Promise<ProviderState> {
    try {
      const metadata = await this.documents.metadata();
      const keys = await this.#keys(await this.documents.json(metadata.jwksUri));
      this.#state = { metadata, keys };
      this.#loadedAt = performance.now();
      this.#failed.succeeded();
      return this.#state;
    } catch (error) {
      this.#failed(error);
      throw error;
    } finally {
      const cooldown = this.#state === null ? firstCooldown : this.#config.rediscovery_lifetime * 1000;
      this.#nextAttempt = performance.now() + cooldown;
    }
  }

  /** Keeps the current keys and their verified tokens if nothing has changed. */
  async #keys(document: Readonly<Record<string, unknown>>): Promise<KeySet> {
    const all = Array.isArray(document['keys']) ? document['keys'] : [];
    const keys = all.filter(isPublicKey).slice(0, maxKeys);
    if (keys.length === 0) throw new Error('the key set has no keys for signatures');
    const text = JSON.stringify(keys);
    if (this.#state?.keys.text === text) return this.#state.keys;
    const { createLocalJWKSet } = await jose();
    return { text, resolve: createLocalJWKSet({ keys }), verified: new BoundedCache(maxVerified) };
  }
}

/** Symmetric keys are refused: anyone who can read them could create tokens. */
function isPublicKey(key: unknown): key is { readonly kty: string } {
  if (typeof key !== 'object' || key === null || !('kty' in key)) return false;
  if ('use' in key && key.use !== 'sig') return false;
  return key.kty === 'RSA' || key.kty === 'EC' || key.kty === 'OKP';
}
