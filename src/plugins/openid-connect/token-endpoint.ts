import { type Claims, claimList } from '../../plugin-kit/auth/index.ts';
import { clientGroup, FairQueue, overloaded } from '../../plugin-kit/runtime/index.ts';
import type { Provider } from './provider.ts';
import type { Metadata } from './provider-documents.ts';
import type { OpenIdConfig } from './schema.ts';
import { verifyToken } from './verify.ts';

export interface TokenResponse {
  readonly accessToken: string;
  /** Seconds since the epoch; null: unknown. */
  readonly expiresAt: number | null;
  readonly refreshToken: string | null;
  readonly idToken: string | null;
  /** Verified claims of the ID token; null if there is none. */
  readonly claims: Claims | null;
  /** Null: the requested ones. */
  readonly scopes: readonly string[] | null;
}

/** Maximum concurrent requests to the token endpoint; half of them for one client. */
const concurrency = 64;
/** Maximum waiting requests; half of them of one client. */
const maxWaiting = 256;

/** RFC 6749, A.12: characters that a header can contain. */
const visible = /^[\x20-\x7e]+$/;

/** Token requests (RFC 6749, 4.1.3 and 6). */
export class TokenEndpoint {
  readonly #config: OpenIdConfig;
  readonly #provider: Provider;
  readonly #queue: FairQueue;

  constructor(config: OpenIdConfig, provider: Provider) {
    this.#config = config;
    this.#provider = provider;
    const maxWait = config.timeout;
    this.#queue = new FairQueue({ concurrency, concurrencyPerGroup: concurrency / 2, maxWaiting, maxWait });
  }

  /**
   * Null: the provider refuses, or its ID token is invalid. Rejects if the response is invalid, or too many requests wait.
   * `client`: its IP address. Any client with a login cookie can repeat the callback with any code, so clients are scheduled
   * fairly.
   */
  async request(client: string, form: Readonly<Record<string, string>>): Promise<TokenResponse | null> {
    const response = await this.#queue.run(clientGroup(client), () => this.#send(form));
    if (response === overloaded) throw new Error('too many requests wait for the token endpoint');
    return response;
  }

  async #send(form: Readonly<Record<string, string>>): Promise<TokenResponse | null> {
    const { metadata } = await this.#provider.state();
    if (metadata.tokenEndpoint === null) throw new Error('the provider has no token endpoint');
    const { headers, fields } = this.#authentication(metadata);
    const { status, value } = await this.#provider.documents.post(
      metadata.tokenEndpoint,
      { ...form, ...fields },
      headers,
    );
    const { access_token: token, token_type: type, id_token: idToken, refresh_token: refresh } = value;
    if (status === 401) throw new Error('the provider does not accept the client_id and client_secret');
    if (status !== 200 || typeof token !== 'string' || !visible.test(token)) return null;
    if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') return null;
    const claims = typeof idToken === 'string' ? await this.#verified(idToken) : null;
    if (typeof idToken === 'string' && claims === null) return null;
    const { expires_in: lifetime, scope } = value;
    return {
      accessToken: token,
      expiresAt: typeof lifetime === 'number' ? Math.floor(Date.now() / 1000) + lifetime : null,
      refreshToken: typeof refresh === 'string' ? refresh : null,
      idToken: typeof idToken === 'string' ? idToken : null,
      claims,
      scopes: typeof scope === 'string' ? claimList(scope) : null,
    };
  }

  /** OpenID Connect Core 1.0, 3.1.3.7. */
  async #verified(idToken: string): Promise<Claims | null> {
    const { algorithms, leeway, client_id: clients } = this.#config;
    const client = clients?.[0] ?? '';
    const rules = { algorithms, leeway, issuers: null, audience: client, types: null };
    const claims = (await verifyToken(this.#provider, idToken, rules))?.claims ?? null;
    if (claims === null || typeof claims['sub'] !== 'string') return null;
    const { azp, aud } = claims;
    const needsParty = Array.isArray(aud) && aud.length > 1;
    return (azp === undefined && !needsParty) || azp === client ? claims : null;
  }

  /** RFC 6749, 2.3.1. */
  #authentication({ clientAuthentication: known }: Metadata) {
    const { client_id: ids, client_secret: secrets, token_endpoint_auth_method: configured } = this.#config;
    const id = ids?.[0] ?? '';
    const secret = secrets?.[0] ?? null;
    const postOnly = known.includes('client_secret_post') && !known.includes('client_secret_basic');
    const method = secret === null ? 'none' : (configured ?? (postOnly ? 'client_secret_post' : 'client_secret_basic'));
    if (secret === null || method === 'none') return { headers: {}, fields: { client_id: id } };
    if (method === 'client_secret_post') return { headers: {}, fields: { client_id: id, client_secret: secret } };
    const pair = Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64');
    return { headers: { Authorization: `Basic ${pair}` }, fields: {} };
  }
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
