import { type Claims, claimAt, claimList, claimText, consumerBy, hasOneOf } from '../../plugin-kit/auth/index.ts';
import type { AccessContext, ConsumerView, PluginTools, Reply } from '../../plugin-sdk/index.ts';
import type { Refusals } from './refusals.ts';
import type { OpenIdConfig } from './schema.ts';

/** The client according to a token, and its permissions. Created once for each token. */
export interface Identity {
  readonly claims: Claims;
  readonly scopes: readonly string[];
  readonly groups: readonly string[] | null;
  readonly identifier: string | null;
  /** Null: there is no consumer claim. */
  readonly consumer: string | null;
  readonly hasScopes: boolean;
  /** Names and values for the backend. */
  readonly headers: readonly (readonly [string, string])[];
}

/** A verified bearer token. */
export interface AcceptedToken {
  readonly identity: Identity;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

export interface ForwardedToken {
  readonly accessToken: string;
  /** The client sent the access token in `Authorization`, which the backend receives, too. */
  readonly sentByClient: boolean;
}

export function identityOf(config: OpenIdConfig, claims: Claims, scopes: readonly string[]): Identity {
  const { consumer_claim: consumer, authenticated_groups_claim: groups } = config;
  const headers: (readonly [string, string])[] = [];
  for (const [at, claim] of (config.upstream_headers_claims ?? []).entries()) {
    const value = claimText(claimAt(claims, [claim]));
    const name = config.upstream_headers_names?.[at];
    if (value !== null && name !== undefined) headers.push([name, value]);
  }
  return {
    claims,
    scopes,
    groups: groups === null ? null : claimList(claimAt(claims, groups)),
    identifier: claimText(claimAt(claims, config.credential_claim)),
    consumer: consumer === null ? null : claimText(claimAt(claims, consumer)),
    hasScopes: hasOneOf(scopes, config.scopes_required),
    headers,
  };
}

/** Accepts an identity, or refuses it. */
export class Admission {
  readonly #config: OpenIdConfig;
  readonly #tools: PluginTools;
  readonly #refusals: Refusals;
  readonly #tokenHeader: { readonly name: string; readonly prefix: string } | null;
  readonly #gatewayHeaders: readonly string[];

  constructor(config: OpenIdConfig, tools: PluginTools, refusals: Refusals) {
    const { upstream_access_token_header: header, upstream_headers_names: names } = config;
    const [name = '', scheme] = header === null ? [] : header.split(':');
    this.#config = config;
    this.#tools = tools;
    this.#refusals = refusals;
    this.#tokenHeader = header === null ? null : { name, prefix: scheme === undefined ? '' : 'Bearer ' };
    const tokenHeader = name === '' || name.toLowerCase() === 'authorization' ? [] : [name];
    this.#gatewayHeaders = [...(names ?? []), ...tokenHeader];
  }

  /** Removes headers that only the gateway may set. */
  strip({ upstream }: AccessContext): void {
    for (const name of this.#gatewayHeaders) upstream.removeHeader(name);
  }

  admit(
    context: AccessContext,
    identity: Identity,
    token: ForwardedToken,
  ): Reply | undefined | Promise<Reply | undefined> {
    if (!identity.hasScopes) return this.#refusals.scope;
    if (this.#config.consumer_claim === null) return this.#accept(context, identity, token, null);
    if (identity.consumer === null) return this.#checkConsumer(context, identity, token, null);
    const found = consumerBy(this.#tools.entities, this.#config.consumer_by, identity.consumer, context.client.ip);
    return found instanceof Promise
      ? found.then((consumer) => this.#checkConsumer(context, identity, token, consumer))
      : this.#checkConsumer(context, identity, token, found);
  }

  #checkConsumer(context: AccessContext, identity: Identity, token: ForwardedToken, consumer: ConsumerView | null) {
    if (consumer === null && !this.#config.consumer_optional) return this.#refusals.forbidden;
    return this.#accept(context, identity, token, consumer);
  }

  #accept(context: AccessContext, identity: Identity, token: ForwardedToken, consumer: ConsumerView | null): undefined {
    const { scopes, groups, claims, identifier, headers } = identity;
    context.authenticate(consumer, { id: null, identifier }, { scopes, groups, claims });
    const { upstream } = context;
    for (const [name, value] of headers) upstream.setHeader(name, value);
    if (this.#config.hide_credentials) {
      upstream.removeHeader('authorization');
      return;
    }
    const target = this.#tokenHeader;
    if (target === null || (token.sentByClient && target.name.toLowerCase() === 'authorization')) return;
    upstream.setHeader(target.name, target.prefix + token.accessToken);
  }
}
