import { type Claims, claimList, clientGroup, FairQueue, overloaded } from '../../plugin-sdk/index.ts';
import type { Provider } from './provider.ts';
import type { Metadata } from './provider-documents.ts';
import type { OpenIdConfig } from './schema.ts';
import { verifyToken } from './verify.ts';

export interface TokenAnswer {
  readonly accessToken: string;
  /** Seconds since the epoch; null: not known. */
  readonly expiresAt: number | null;
  readonly refreshToken: string | null;
  readonly idToken: string | null;
  /** Of the ID token, verified; null when there is none. */
  readonly claims: Claims | null;
  /** Null: those that were asked for. */
  readonly scopes: readonly string[] | null;
}

/** Requests to the token endpoint at the same time; half of them for one client at most. */
const concurrency = 64;
/** Requests that wait for their turn; half of them of one client at most. */
const maxWaiting = 256;

/** RFC 6749, A.12: what a header can carry. */
const visible = /^[\x20-\x7e]+$/;

/** Asks for tokens (RFC 6749, 4.1.3 and 6). */
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
   * Null: the provider refuses, or its ID token is not valid. Rejects when it gives no proper answer, or too many requests wait.
   * `client`: its IP address. Whoever has a login cookie can repeat the callback with any code, so clients take turns.
   */
  async ask(client: string, form: Readonly<Record<string, string>>): Promise<TokenAnswer | null> {
    const answer = await this.#queue.run(clientGroup(client), () => this.#ask(form));
    if (answer === overloaded) throw new Error('too many requests wait for the token endpoint');
    return answer;
  }

  async #ask(form: Readonly<Record<string, string>>): Promise<TokenAnswer | null> {
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
    const { client_id: ids, client_secret: secrets, token_endpoint_auth_method: wanted } = this.#config;
    const id = ids?.[0] ?? '';
    const secret = secrets?.[0] ?? null;
    const postOnly = known.includes('client_secret_post') && !known.includes('client_secret_basic');
    const method = secret === null ? 'none' : (wanted ?? (postOnly ? 'client_secret_post' : 'client_secret_basic'));
    if (secret === null || method === 'none') return { headers: {}, fields: { client_id: id } };
    if (method === 'client_secret_post') return { headers: {}, fields: { client_id: id, client_secret: secret } };
    const pair = Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64');
    return { headers: { Authorization: `Basic ${pair}` }, fields: {} };
  }
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
