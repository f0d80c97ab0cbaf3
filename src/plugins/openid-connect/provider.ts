import { BoundedCache, type OutageReporter } from '../../plugin-sdk/index.ts';
import type { AcceptedToken } from './bearer-tokens.ts';
import { type Jose, jose } from './jose.ts';
import type { Metadata, ProviderDocuments } from './provider-documents.ts';
import type { OpenIdConfig } from './schema.ts';

export interface ProviderState {
  readonly metadata: Metadata;
  readonly keys: KeySet;
}

/** Keys of one moment, and the tokens that they have verified: these are forgotten with them. */
export interface KeySet {
  readonly resolve: ReturnType<Jose['createLocalJWKSet']>;
  readonly verified: BoundedCache<string, AcceptedToken>;
  /** The document; equal text, equal keys. */
  readonly text: string;
}

const maxKeys = 100;
const maxVerified = 10_000;
/** How long a provider that has never answered is not asked again, in milliseconds. */
const firstCooldown = 1000;

/** The provider's configuration and keys: asked for once, then kept, however long the provider is away. */
export class Provider {
  readonly documents: ProviderDocuments;
  readonly #config: OpenIdConfig;
  readonly #failed: OutageReporter;
  #state: ProviderState | null = null;
  #loading: Promise<ProviderState> | null = null;
  /** On the clock of `performance.now()`. */
  #loadedAt = 0;
  #askAgainAt = 0;

  constructor(config: OpenIdConfig, documents: ProviderDocuments, failed: OutageReporter) {
    this.#config = config;
    this.documents = documents;
    this.#failed = failed;
  }

  /** Rejects while the provider has never answered. */
  state(): ProviderState | Promise<ProviderState> {
    const state = this.#state;
    const now = performance.now();
    if (state === null) {
      if (this.#loading === null && now < this.#askAgainAt) return Promise.reject(new Error('the provider is away'));
      return this.#load();
    }
    if (now - this.#loadedAt > this.#config.cache_ttl * 1000 && now >= this.#askAgainAt) this.#load().catch(() => {});
    return state;
  }

  /** For a key that `known` does not have: the state with newer keys, or null when there are none to be had now. */
  async newer(known: ProviderState): Promise<ProviderState | null> {
    if (this.#state !== null && this.#state.keys !== known.keys) return this.#state;
    if (this.#loading === null && performance.now() < this.#askAgainAt) return null;
    const state = await this.#load().catch(() => null);
    return state === null || state.keys === known.keys ? null : state;
  }

  #load(): Promise<ProviderState> {
    this.#loading ??= this.#ask().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #ask(): Promise<ProviderState> {
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
      this.#askAgainAt = performance.now() + cooldown;
    }
  }

  /** The keys in use stay, with what they have verified, when nothing has changed. */
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

/** Symmetric keys are no public keys: a token could be made with what everybody knows. */
function isPublicKey(key: unknown): key is { readonly kty: string } {
  if (typeof key !== 'object' || key === null || !('kty' in key)) return false;
  if ('use' in key && key.use !== 'sig') return false;
  return key.kty === 'RSA' || key.kty === 'EC' || key.kty === 'OKP';
}
