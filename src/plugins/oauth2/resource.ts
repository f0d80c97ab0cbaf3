import {
  type AccessContext,
  authAccess,
  type ConsumerView,
  credentialView,
  type EntityRow,
  type PluginTools,
  type Reply,
} from '../../plugin-sdk/index.ts';
import { accessTokenReader, type ReadToken } from './access-token.ts';
import { type TokenRefusals, tokenRefusals } from './answers.ts';
import { clientOf, type Grant, grantOf } from './rows.ts';
import type { OAuth2Config } from './schema.ts';

type Outcome = Reply | undefined;
type Later<T> = T | Promise<T>;

/** Lets requests for the API pass that have a valid access token, as the consumer of the application. */
export function resourceAccess(config: OAuth2Config, tools: PluginTools): (context: AccessContext) => Later<Outcome> {
  const check = new TokenCheck(config, tools);
  return authAccess(tools, { anonymous: config.anonymous, attempt: (context) => check.run(context) });
}

/** Each step is synchronous when the entity is known to the worker already, as it is for a token in use. */
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

  run(context: AccessContext): Later<Outcome> {
    const token = this.#readToken(context);
    return token instanceof Promise
      ? token.then((text) => this.#withText(context, text))
      : this.#withText(context, token);
  }

  #withText(context: AccessContext, token: string | null | Reply): Later<Outcome> {
    if (token === null) return this.#refusals.missing;
    if (typeof token !== 'string') return token;
    if (token === '') return this.#refusals.invalid;
    const row = this.#entities.find('oauth2_tokens', 'access_token', token, context.client.ip);
    return row instanceof Promise
      ? row.then((found) => this.#withToken(context, found))
      : this.#withToken(context, row);
  }

  #withToken(context: AccessContext, row: EntityRow | null): Later<Outcome> {
    if (row === null) return this.#refusals.invalid;
    const grant = grantOf(row);
    if (grant.expiresAt <= Date.now() || grant.credentialId === null) return this.#refusals.invalid;
    if (!this.#isForHere(context, grant)) return this.#refusals.invalid;
    const client = this.#entities.find('oauth2_credentials', 'id', grant.credentialId, context.client.ip);
    return client instanceof Promise
      ? client.then((found) => this.#withClient(context, grant, found))
      : this.#withClient(context, grant, client);
  }

  /** A token of one service is of no use to another, and one of all services only where the plugin says so. */
  #isForHere({ service }: AccessContext, { serviceId }: Grant): boolean {
    return this.#global ? serviceId === null : service !== null && serviceId === service.id;
  }

  #withClient(context: AccessContext, grant: Grant, row: EntityRow | null): Later<Outcome> {
    const consumerId = row === null ? null : clientOf(row).consumerId;
    if (row === null || consumerId === null) return this.#refusals.invalid;
    const consumer = this.#entities.consumer(consumerId, context.client.ip);
    return consumer instanceof Promise
      ? consumer.then((found) => this.#pass(context, grant, row, found))
      : this.#pass(context, grant, row, consumer);
  }

  #pass(context: AccessContext, grant: Grant, row: EntityRow, consumer: ConsumerView | null): Outcome {
    if (consumer === null) return this.#refusals.invalid;
    const credential = credentialView('oauth2_credentials', row, clientOf(row).clientId);
    context.authenticate(consumer, credential, { scopes: grant.scopes });
    const { upstream } = context;
    if (grant.scopeHeader !== null) upstream.setHeader('X-Authenticated-Scope', grant.scopeHeader);
    if (grant.userHeader !== null) upstream.setHeader('X-Authenticated-UserId', grant.userHeader);
    return undefined;
  }
}
