import { readFileSync } from 'node:fs';
import type { Claims } from '../../plugin-kit/auth/index.ts';
import { type FetchOptions, fetchDocument } from '../../plugin-kit/net/index.ts';
import type { PluginTools } from '../../plugin-sdk/index.ts';
import type { OpenIdConfig } from './schema.ts';

/** The metadata of the provider (OpenID Connect Discovery 1.0, 3). */
export interface Metadata {
  readonly issuer: string;
  readonly jwksUri: string;
  readonly authorizationEndpoint: string | null;
  readonly tokenEndpoint: string | null;
  readonly endSessionEndpoint: string | null;
  /** Callbacks must name the issuer (RFC 9207). */
  readonly namesIssuer: boolean;
  readonly clientAuthentication: readonly string[];
}

const wellKnown = '/.well-known/openid-configuration';
const maxDocument = 512 * 1024;

/** Requests to the provider, with the timeout and the TLS settings of the configuration. */
export class ProviderDocuments {
  readonly #config: OpenIdConfig;
  readonly #authorities: string | null;
  readonly #issuer: string;

  constructor(config: OpenIdConfig, { settings }: PluginTools) {
    const { trustedCertificates: file } = settings;
    this.#config = config;
    this.#authorities = file === null ? null : readFileSync(file, 'utf8');
    this.#issuer = config.issuer.endsWith(wellKnown) ? config.issuer.slice(0, -wellKnown.length) : config.issuer;
  }

  async metadata(): Promise<Metadata> {
    const found = await this.json(withoutSlash(this.#issuer) + wellKnown);
    const issuer = found['issuer'];
    if (typeof issuer !== 'string' || withoutSlash(issuer) !== withoutSlash(this.#issuer)) {
      throw new Error('the discovery document is of another issuer');
    }
    const jwksUri = this.#endpoint(found, 'jwks_uri');
    if (jwksUri === null) throw new Error('the discovery document has no jwks_uri');
    const methods = found['token_endpoint_auth_methods_supported'];
    return {
      issuer,
      jwksUri,
      authorizationEndpoint: this.#endpoint(found, 'authorization_endpoint'),
      tokenEndpoint: this.#endpoint(found, 'token_endpoint'),
      endSessionEndpoint: this.#endpoint(found, 'end_session_endpoint'),
      namesIssuer: found['authorization_response_iss_parameter_supported'] === true,
      clientAuthentication: Array.isArray(methods) ? methods : ['client_secret_basic'],
    };
  }

  /** A document that is a JSON object. */
  async json(url: string): Promise<Claims> {
    const { status, body } = await fetchDocument(url, { ...this.#options(), headers: { Accept: 'application/json' } });
    const value = parsedObject(body);
    if (status !== 200 || value === null)
      throw new Error(`${new URL(url).origin}: no proper document, status ${status}`);
    return value;
  }

  /** Posts a form. The response may be an error of RFC 6749, 5.2. */
  async post(
    url: string,
    form: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ readonly status: number; readonly value: Claims }> {
    const { status, body } = await fetchDocument(url, {
      ...this.#options(),
      method: 'POST',
      headers: { ...headers, Accept: 'application/json', 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    });
    const value = parsedObject(body);
    if (value === null || status >= 500) throw new Error(`${new URL(url).origin}: no proper answer, status ${status}`);
    return { status, value };
  }

  #options(): FetchOptions {
    const { timeout, ssl_verify: verify } = this.#config;
    const ca = this.#authorities === null ? {} : { ca: this.#authorities };
    return { timeout, verify, maxBytes: maxDocument, ...ca };
  }

  /** With an https issuer, secrets and keys must not be sent over plain HTTP. */
  #endpoint(found: Claims, name: string): string | null {
    const value = found[name];
    if (typeof value !== 'string' || !URL.canParse(value)) return null;
    const { protocol } = new URL(value);
    const fits = protocol === 'https:' || (protocol === 'http:' && this.#issuer.startsWith('http:'));
    if (!fits) throw new Error(`${name} of the discovery document is not a URL of https`);
    return value;
  }
}

function parsedObject(body: Buffer): Claims | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : null;
  } catch {
    return null;
  }
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}
