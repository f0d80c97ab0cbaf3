import { authAccess, credentialView } from '../../plugin-kit/auth/index.ts';
import type { AccessContext, ConsumerView, EntityRow, PluginTools, Reply } from '../../plugin-sdk/index.ts';
import { accessTokenReader, type ReadToken } from './access-token.ts';
import { type TokenRefusals, tokenRefusals } from './responses.ts';
import { clientOf, type Grant, grantOf } from './rows.ts';
import type { OAuth2Config } from './schema.ts';

type Outcome = Reply | undefined;
type MaybePromise<T> = T | Promise<T>;

/** Accepts requests for the API with a valid access token, as the consumer of the application. */
export function resourceAccess(
  config: OAuth2Config,
  tools: PluginTools,
): (context: AccessContext) => MaybePromise<Outcome> {
  const check = new TokenCheck(config, tools);
  return authAccess(tools, { anonymous: config.anonymous, attempt: (context) => check.run(context) });
}

/** Each step is synchronous if the worker has cached the entity, as for a token in use. */
class TokenCheck {
  readonly #readToken: ReadToken;
  readonly #global: boolean;
  readonly #entities: PluginTools['entities'];
  readonly #refusals: TokenRefusals;

  constructor(config: OAuth2Config, tools: PluginTools) {
    this.#readToken = accessTokenReader(config);
    this.#global = config.global_credentials;
    this.#entities = tools.entities;
    this.#refusals = tokenRefusals(config.realm);
  }

  run(context: AccessContext): MaybePromise<Outcome> {
    const token = this.#readToken(context);
    return token instanceof Promise
      ? token.then((text) => this.#checkToken(context, text))
      : this.#checkToken(context, token);
  }

  #checkToken(context: AccessContext, token: string | null | Reply): MaybePromise<Outcome> {
    if (token === null) return this.#refusals.missing;
    if (typeof token !== 'string') return token;
    if (token === '') return this.#refusals.invalid;
    const row = this.#entities.find('oauth2_tokens', 'access_token', token, context.client.ip);
    return row instanceof Promise
      ? row.then((found) => this.#checkGrant(context, found))
      : this.#checkGrant(context, row);
  }

  #checkGrant(context: AccessContext, row: EntityRow | null): MaybePromise<Outcome> {
    if (row === null) return this.#refusals.invalid;
    const grant = grantOf(row);
    if (grant.expiresAt <= Date.now() || grant.credentialId === null) return this.#refusals.invalid;
    if (!this.#isForService(context, grant)) return this.#refusals.invalid;
    const client = this.#entities.find('oauth2_credentials', 'id', grant.credentialId, context.client.ip);
    return client instanceof Promise
      ? client.then((found) => this.#checkClient(context, grant, found))
      : this.#checkClient(context, grant, client);
  }

  /** A token of one service is invalid for others; a global token is valid only with `global_credentials`. */
  #isForService({ service }: AccessContext, { serviceId }: Grant): boolean {
    return this.#global ? serviceId === null : service !== null && serviceId === service.id;
  }

  #checkClient(context: AccessContext, grant: Grant, row: EntityRow | null): MaybePromise<Outcome> {
    const consumerId = row === null ? null : clientOf(row).consumerId;
    if (row === null || consumerId === null) return this.#refusals.invalid;
    const consumer = this.#entities.consumer(consumerId, context.client.ip);
    return consumer instanceof Promise
      ? consumer.then((found) => this.#authenticate(context, grant, row, found))
      : this.#authenticate(context, grant, row, consumer);
  }

  #authenticate(context: AccessContext, grant: Grant, row: EntityRow, consumer: ConsumerView | null): Outcome {
    if (consumer === null) return this.#refusals.invalid;
    const credential = credentialView('oauth2_credentials', row, clientOf(row).clientId);
    context.authenticate(consumer, credential, { scopes: grant.scopes });
    const { upstream } = context;
    if (grant.scopeHeader !== null) upstream.setHeader('X-Authenticated-Scope', grant.scopeHeader);
    if (grant.userHeader !== null) upstream.setHeader('X-Authenticated-UserId', grant.userHeader);
    return undefined;
  }
}
