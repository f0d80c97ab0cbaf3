import { createHash, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { authAccess, credentialView } from '../../plugin-kit/auth/index.ts';
import {
  type AccessContext,
  type ConsumerView,
  type CredentialView,
  type EntityRow,
  foreignIdOf,
  type PluginPhases,
  type PluginTools,
  type Reply,
  type RequestView,
  refuse,
} from '../../plugin-sdk/index.ts';
import { parseHttpDate } from './http-date.ts';
import { hasCredentials, type SignatureParameters, signatureFields, signatureParameters } from './parameters.ts';
import type { HmacAuthConfig } from './schema.ts';
import { algorithmNames, decodeBase64, isSignatureOf, signingText } from './signature.ts';

/** Largest body that is compared with its digest, in bytes. */
export const maxBodyBytes = 8 * 1_048_576;

type Outcome = Reply | undefined;

interface Credential {
  readonly view: CredentialView;
  readonly consumerId: string;
  readonly secret: KeyObject;
}

const dates = ['x-date', 'date'] as const;
const digestField = /^sha-256=(.*)$/i;

export function authenticateBySignature(config: HmacAuthConfig, tools: PluginTools): PluginPhases {
  const signatures = new Signatures(config, tools);
  const authenticate = authAccess(tools, {
    anonymous: config.anonymous,
    attempt: (context) => signatures.attempt(context),
  });
  if (!config.hide_credentials) return { access: authenticate };
  const hide = ({ request, upstream }: AccessContext): void => {
    for (const name of signatureFields(request)) upstream.removeHeader(name);
  };
  return {
    access(context) {
      hide(context);
      return authenticate(context);
    },
    accessSkipped: hide,
  };
}

class Signatures {
  readonly #entities: PluginTools['entities'];
  readonly #algorithms: ReadonlySet<string>;
  readonly #enforced: readonly string[];
  /** Milliseconds. */
  readonly #skew: number;
  readonly #withBody: boolean;
  readonly #refusals: ReturnType<typeof hmacRefusals>;
  readonly #credentials = new WeakMap<EntityRow, Credential | null>();

  constructor(config: HmacAuthConfig, tools: PluginTools) {
    this.#entities = tools.entities;
    this.#algorithms = new Set(config.algorithms ?? algorithmNames);
    this.#enforced = config.enforce_headers.map((name) => name.toLowerCase());
    this.#skew = (config.clock_skew ?? 300) * 1000;
    this.#withBody = config.validate_request_body;
    this.#refusals = hmacRefusals(config.realm);
  }

  attempt(context: AccessContext): Outcome | Promise<Outcome> {
    const { request } = context;
    if (!hasCredentials(request)) return this.#refusals.missing;
    if (!this.#isRecent(request, dates)) return this.#refusals.date;
    const parameters = signatureParameters(request);
    if (parameters === null || !this.#isAllowed(parameters)) return this.#refusals.unverifiable;
    // An unsigned date cannot make a signed old date valid.
    const signed = dates.filter((name) => parameters.headers.includes(name));
    if (signed.length > 0 && !this.#isRecent(request, signed)) return this.#refusals.date;
    const row = this.#entities.find('hmacauth_credentials', 'username', parameters.username, context.client.ip);
    return row instanceof Promise
      ? row.then((found) => this.#verify(context, parameters, found))
      : this.#verify(context, parameters, row);
  }

  #isRecent(request: RequestView, names: readonly string[]): boolean {
    return names.some((name) => {
      const values = request.headerValues(name);
      const time = values.length === 1 ? parseHttpDate(values[0]!) : null;
      return time !== null && Math.abs(Date.now() - time) <= this.#skew;
    });
  }

  #isAllowed({ algorithm, headers }: SignatureParameters): boolean {
    return this.#algorithms.has(algorithm) && this.#enforced.every((name) => headers.includes(name));
  }

  #verify(context: AccessContext, parameters: SignatureParameters, row: EntityRow | null): Outcome | Promise<Outcome> {
    const credential = row === null ? null : this.#credentialOf(row);
    const text = signingText(context.request, parameters.headers);
    if (credential === null || text === null) return this.#refusals.unverifiable;
    if (!isSignatureOf(text, parameters.algorithm, credential.secret, parameters.signature)) {
      return this.#refusals.mismatch;
    }
    if (!this.#withBody) return this.#accept(context, credential);
    // An attacker who changes the body in transit could also change an unsigned digest.
    const isSigned = parameters.headers.includes('digest');
    if (!isSigned && context.request.headerValues('digest').length > 0) return this.#refusals.unverifiable;
    // The body comes last: only a client with a valid signature can make the gateway collect one.
    return context
      .body()
      .then((body) =>
        isDigestOf(body, context.request) ? this.#accept(context, credential) : this.#refusals.mismatch,
      );
  }

  #accept(context: AccessContext, credential: Credential): Outcome | Promise<Outcome> {
    const consumer = this.#entities.consumer(credential.consumerId, context.client.ip);
    return consumer instanceof Promise
      ? consumer.then((found) => this.#goOn(context, found, credential))
      : this.#goOn(context, consumer, credential);
  }

  #goOn(context: AccessContext, consumer: ConsumerView | null, { view }: Credential): Outcome {
    // The consumer was deleted just now.
    if (consumer === null) return this.#refusals.unverifiable;
    context.authenticate(consumer, view);
    return undefined;
  }

  #credentialOf(row: EntityRow): Credential | null {
    let credential = this.#credentials.get(row);
    if (credential === undefined) {
      credential = readCredential(row);
      this.#credentials.set(row, credential);
    }
    return credential;
  }
}

function readCredential(row: EntityRow): Credential | null {
  const { username, secret } = row;
  const consumerId = foreignIdOf(row, 'consumer');
  if (consumerId === null || typeof username !== 'string') return null;
  // Any client could sign with an empty secret.
  if (typeof secret !== 'string' || secret === '') return null;
  return {
    view: credentialView('hmacauth_credentials', row, username),
    consumerId,
    secret: createSecretKey(secret, 'utf8'),
  };
}

/** `Digest: SHA-256=<base64>` (RFC 3230, 5843) matches the body. A request without a body needs none. */
function isDigestOf(body: Uint8Array, request: RequestView): boolean {
  const values = request.headerValues('digest');
  if (values.length === 0) return body.byteLength === 0;
  const encoded = values.length === 1 ? digestField.exec(values[0]!)?.[1] : undefined;
  const given = encoded === undefined ? null : decodeBase64(encoded);
  const expected = createHash('sha256').update(body).digest();
  return given !== null && given.length === expected.length && timingSafeEqual(given, expected);
}

function hmacRefusals(realm: string | null) {
  const quoted = realm === null ? '' : ` realm="${realm.replace(/["\\]/g, '\\$&').replace(/[\0-\x1f\x7f]/g, '')}"`;
  const refusal = (message: string): Reply => refuse(401, message, { 'WWW-Authenticate': `hmac${quoted}` });
  return {
    missing: refusal('Unauthorized'),
    date: refusal(
      'HMAC signature cannot be verified, a valid date or x-date header is required for HMAC Authentication',
    ),
    unverifiable: refusal('HMAC signature cannot be verified'),
    mismatch: refusal('HMAC signature does not match'),
  };
}
