import type { KeyObject } from 'node:crypto';
import { authAccess, credentialView } from '../../plugin-kit/auth/index.ts';
import {
  type AccessContext,
  type ConsumerView,
  type EntityRow,
  foreignIdOf,
  type PluginPhases,
  type PluginTools,
  type Reply,
  refuse,
} from '../../plugin-sdk/index.ts';
import type { Algorithm } from './algorithms.ts';
import { algorithmOf } from './algorithms.ts';
import { claimsChecker, scopesOf } from './claims.ts';
import { credentialKeys } from './credential-key.ts';
import { missing, several, tokenFinder, unrecognizable } from './find-token.ts';
import { KeySet, KeysUnavailable } from './key-set.ts';
import { parseToken, type Token } from './parse-token.ts';
import { jwtRefusals, type Refusals } from './refusals.ts';
import type { JwtConfig } from './schema.ts';
import { type Verified, VerifiedTokens } from './verified-tokens.ts';

type Outcome = Reply | undefined;

/** Not allowed in a header value, and the client's name is forwarded in one. */
const controls = /[\0-\x1f\x7f]/;

export function authenticateByToken(config: JwtConfig, tools: PluginTools): PluginPhases {
  const tokens = new TokenAuthentication(config, tools);
  return {
    access: authAccess(tools, {
      anonymous: config.anonymous,
      runOnPreflight: config.run_on_preflight,
      attempt: (context) => tokens.attempt(context),
    }),
  };
}

class TokenAuthentication {
  readonly #config: JwtConfig;
  readonly #tools: PluginTools;
  readonly #claimName: string;
  readonly #find: ReturnType<typeof tokenFinder>;
  readonly #check: ReturnType<typeof claimsChecker>;
  readonly #keyOf: ReturnType<typeof credentialKeys>;
  readonly #keySet: KeySet | null;
  readonly #refusals: Refusals;
  readonly #verified = new VerifiedTokens();

  constructor(config: JwtConfig, tools: PluginTools) {
    this.#config = config;
    this.#tools = tools;
    this.#claimName = config.key_claim_name ?? 'iss';
    this.#find = tokenFinder(config);
    this.#check = claimsChecker(config);
    this.#keyOf = credentialKeys(config.secret_is_base64);
    this.#keySet = config.jwks_uri === null ? null : keySetOf(config, config.jwks_uri, tools);
    this.#refusals = jwtRefusals(config.realm);
  }

  attempt(context: AccessContext): Outcome | Promise<Outcome> {
    const text = this.#find(context);
    if (text === missing) return this.#refusals.missing();
    if (text === several) return this.#refusals.invalid('Multiple tokens provided');
    if (text === unrecognizable) return this.#refusals.invalid('Unrecognizable token');
    const known = this.#verified.get(text);
    if (known !== undefined && this.#stillHolds(known, context.client.ip)) return this.#accept(context, known);
    const token = parseToken(text);
    if (typeof token === 'string') return this.#refusals.invalid(token);
    return this.#keySet === null ? this.#byCredential(context, token) : this.#byKeySet(context, token, this.#keySet);
  }

  #stillHolds({ expiresAt, name, credential, generation }: Verified, client: string): boolean {
    if (expiresAt <= Date.now() / 1000) return false;
    if (this.#keySet !== null) {
      this.#keySet.keepFresh();
      return generation === this.#keySet.generation;
    }
    const row = this.#tools.entities.find('jwt_secrets', 'key', name, client);
    // The full check below makes the same lookup and handles its failure.
    if (row instanceof Promise) row.catch(() => {});
    return row === credential && credential !== null;
  }

  #byCredential(context: AccessContext, token: Token): Outcome | Promise<Outcome> {
    const claim = this.#claimName;
    const name = token.claims[claim] ?? token.header[claim];
    if (name === undefined || name === null) return this.#refusals.invalid(`No mandatory '${claim}' in claims`);
    if (typeof name !== 'string' || name === '' || controls.test(name)) {
      return this.#refusals.invalid(`Invalid '${claim}' in claims`);
    }
    const row = this.#tools.entities.find('jwt_secrets', 'key', name, context.client.ip);
    return row instanceof Promise
      ? row.then((found) => this.#withCredential(context, token, name, found))
      : this.#withCredential(context, token, name, row);
  }

  #withCredential(
    context: AccessContext,
    token: Token,
    name: string,
    credential: EntityRow | null,
  ): Outcome | Promise<Outcome> {
    if (credential === null) return this.#refusals.invalid(`No credentials found for given '${this.#claimName}'`);
    const algorithm = algorithmOf(credential['algorithm'] ?? 'HS256');
    if (algorithm === null || algorithm !== token.algorithm) return this.#refusals.invalid('Invalid algorithm');
    const secret = this.#keyOf(credential, algorithm);
    if (secret === null) return this.#refusals.invalid('Invalid key/secret');
    return this.#verify(context, token, { algorithm, secret, name, credential });
  }

  #byKeySet(context: AccessContext, token: Token, keys: KeySet): Outcome | Promise<Outcome> {
    const goOn = (secret: KeyObject | null): Outcome | Promise<Outcome> => {
      if (secret === null) return this.#refusals.invalid('Invalid signature');
      const { sub } = token.claims;
      if (sub !== undefined && (typeof sub !== 'string' || controls.test(sub))) {
        return this.#refusals.invalid("Invalid 'sub' in claims");
      }
      const name = sub ?? '';
      return this.#verify(context, token, { algorithm: token.algorithm, secret, name, credential: null });
    };
    const secret = keys.find(token.header['kid'], token.algorithm);
    if (!(secret instanceof Promise)) return goOn(secret);
    return secret.then(goOn, (error: unknown) => {
      if (error instanceof KeysUnavailable) return refuse(503, 'Service temporarily unavailable');
      throw error;
    });
  }

  #verify(
    context: AccessContext,
    token: Token,
    by: {
      readonly algorithm: Algorithm;
      readonly secret: KeyObject;
      readonly name: string;
      readonly credential: EntityRow | null;
    },
  ): Outcome | Promise<Outcome> {
    const { claims, signed, signature } = token;
    if (!by.algorithm.verify(by.secret, signed, signature)) return this.#refusals.invalid('Invalid signature');
    const exp = claims['exp'];
    const verified: Verified = {
      claims,
      details: { claims, scopes: scopesOf(claims) },
      expiresAt: typeof exp === 'number' ? exp : Number.POSITIVE_INFINITY,
      name: by.name,
      credential: by.credential,
      generation: this.#keySet?.generation ?? 0,
    };
    this.#verified.set(token.text, verified);
    return this.#accept(context, verified);
  }

  /** The signature is valid: the claims decide. */
  #accept(context: AccessContext, verified: Verified): Outcome | Promise<Outcome> {
    const problems = this.#check(verified.claims, Date.now() / 1000);
    if (problems !== null) return this.#refusals.claims(problems);
    const consumer = this.#consumerOf(verified, context.client.ip);
    return consumer instanceof Promise
      ? consumer.then((found) => this.#goOn(context, verified, found))
      : this.#goOn(context, verified, consumer);
  }

  /** Undefined: the token belongs to no consumer. */
  #consumerOf(
    { credential, claims }: Verified,
    client: string,
  ): ConsumerView | null | undefined | Promise<ConsumerView | null> {
    const { entities } = this.#tools;
    if (credential !== null) return entities.consumer(foreignIdOf(credential, 'consumer') ?? '', client);
    const { consumer_claim: claim, consumer_by: by } = this.#config;
    if (claim === null) return undefined;
    const value = claims[claim];
    if (typeof value !== 'string' || value === '') return null;
    const row = entities.find('consumers', by, value, client);
    const viewOf = (found: EntityRow | null): ConsumerView | null | Promise<ConsumerView | null> =>
      found === null ? null : entities.consumer(found.id, client);
    return row instanceof Promise ? row.then(viewOf) : viewOf(row);
  }

  #goOn(context: AccessContext, verified: Verified, consumer: ConsumerView | null | undefined): Outcome {
    const { credential, name, claims, details } = verified;
    if (consumer === null) {
      const claim = credential === null ? (this.#config.consumer_claim ?? '') : this.#claimName;
      const value = credential === null ? printable(claims[claim]) : name;
      return this.#refusals.invalid(`Could not find consumer for '${claim}=${value}'`);
    }
    const view =
      credential === null
        ? { id: name || null, identifier: name || null }
        : credentialView('jwt_secrets', credential, name);
    context.authenticate(consumer ?? null, view, details);
    return undefined;
  }
}

function keySetOf(config: JwtConfig, uri: string, tools: PluginTools): KeySet {
  const options = {
    uri,
    algorithms: new Set(config.jwks_algorithms),
    ttl: config.jwks_ttl * 1000,
    cooldown: config.jwks_cooldown * 1000,
    timeout: config.jwks_timeout,
    verify: config.jwks_ssl_verify,
  };
  return new KeySet(options, tools);
}

/** A claim for a message: short, and on one line. */
function printable(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 100).replace(/[^\x20-\x7e]/g, '?') : '';
}
