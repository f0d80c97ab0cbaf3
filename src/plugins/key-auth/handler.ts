import { authAccess, credentialView } from '../../plugin-kit/auth/index.ts';
import { bodyArguments, hasBodyArguments, withoutBodyArguments } from '../../plugin-kit/http/index.ts';
import {
  type AccessContext,
  type ConsumerView,
  type CredentialView,
  type EntityRow,
  foreignIdOf,
  type PluginPhases,
  type PluginTools,
  type Reply,
} from '../../plugin-sdk/index.ts';
import { credentialFinder } from './find-credential.ts';
import { keyFinder, keyRefusals } from './find-key.ts';
import type { KeyAuthConfig } from './schema.ts';

/** Largest body that a key is looked for in, in bytes. */
export const maxBodyBytes = 1_048_576;

type Outcome = Reply | undefined;

interface Credential {
  readonly view: CredentialView;
  readonly consumerId: string;
}

export function authenticateByKey(config: KeyAuthConfig, tools: PluginTools): PluginPhases {
  const attempts = new KeyAttempts(config, tools);
  const authenticate = authAccess(tools, {
    anonymous: config.anonymous,
    runOnPreflight: config.run_on_preflight,
    attempt: config.key_in_body ? (context) => attempts.withBody(context) : (context) => attempts.run(context, null),
  });
  if (!config.hide_credentials) return { access: authenticate };
  return {
    access(context) {
      // Also when another plugin has authenticated the client: the backend must not receive the key.
      attempts.hide(context);
      const isKnown = config.anonymous !== null && context.client.credential !== null;
      return isKnown && config.key_in_body ? attempts.hideInBody(context) : authenticate(context);
    },
    accessSkipped: (context) => attempts.hide(context),
  };
}

class KeyAttempts {
  readonly #config: KeyAuthConfig;
  readonly #names: ReadonlySet<string>;
  readonly #entities: PluginTools['entities'];
  readonly #refusals: ReturnType<typeof keyRefusals>;
  readonly #findKey: ReturnType<typeof keyFinder>;
  readonly #findCredential: ReturnType<typeof credentialFinder>;
  readonly #credentials = new WeakMap<EntityRow, Credential>();

  constructor(config: KeyAuthConfig, tools: PluginTools) {
    this.#config = config;
    this.#names = new Set(config.key_names);
    this.#entities = tools.entities;
    this.#refusals = keyRefusals(config.realm);
    this.#findKey = keyFinder(config, this.#refusals);
    this.#findCredential = credentialFinder(tools.entities, tools.settings.hashKeys);
  }

  run(context: AccessContext, body: ReturnType<typeof bodyArguments>): Outcome | Promise<Outcome> {
    const key = this.#findKey(context.request, body);
    if (typeof key !== 'string') return key;
    const row = this.#findCredential(key, context.client.ip);
    return row instanceof Promise ? row.then((found) => this.#accept(context, found)) : this.#accept(context, row);
  }

  /** A body beyond the limit gets 413; it does not count as one without a key. */
  withBody(context: AccessContext): Outcome | Promise<Outcome> {
    const type = context.request.header('content-type');
    if (!hasBodyArguments(type)) return this.run(context, null);
    if (!this.#config.hide_credentials && typeof this.#findKey(context.request, null) === 'string') {
      // With several names the body would precede the header of a later name; no client relies on that order.
      return this.run(context, null);
    }
    const { hide_credentials: hides } = this.#config;
    return (hides ? context.decodedBody() : context.body()).then((body) => {
      const refusal = hides ? this.#setHidden(context, type, body) : undefined;
      return refusal ?? this.run(context, bodyArguments(type, body, this.#names));
    });
  }

  hideInBody(context: AccessContext): Outcome | Promise<Outcome> {
    const type = context.request.header('content-type');
    if (!hasBodyArguments(type)) return undefined;
    return context.decodedBody().then((body) => this.#setHidden(context, type, body));
  }

  /** A backend with a less strict parser may find a key in a body that is malformed here. */
  #setHidden({ request, upstream }: AccessContext, type: string | null, body: Uint8Array): Outcome {
    const isOneType = request.headerValues('content-type').length === 1;
    const hidden = isOneType ? withoutBodyArguments(type, body, this.#names) : null;
    if (hidden === null) return this.#refusals.unreadable;
    if (hidden !== body) upstream.setBody(hidden);
    return undefined;
  }

  hide({ upstream }: AccessContext): void {
    const { key_in_header: inHeader, key_in_query: inQuery, key_names: names } = this.#config;
    if (inHeader) for (const name of names) upstream.removeHeader(name);
    if (inQuery) upstream.removeQueryArguments(this.#names);
  }

  #accept(context: AccessContext, row: EntityRow | null): Outcome | Promise<Outcome> {
    const credential = row === null ? null : this.#credentialOf(row);
    if (credential === null) return this.#refusals.unknown;
    const consumer = this.#entities.consumer(credential.consumerId, context.client.ip);
    if (consumer instanceof Promise) return consumer.then((found) => this.#goOn(context, found, credential.view));
    return this.#goOn(context, consumer, credential.view);
  }

  #goOn(context: AccessContext, consumer: ConsumerView | null, view: CredentialView): Outcome {
    // The consumer was deleted just now.
    if (consumer === null) return this.#refusals.unknown;
    context.authenticate(consumer, view);
    return undefined;
  }

  #credentialOf(row: EntityRow): Credential | null {
    const known = this.#credentials.get(row);
    if (known !== undefined) return known;
    const consumerId = foreignIdOf(row, 'consumer');
    if (consumerId === null) return null;
    const credential = { view: credentialView('keyauth_credentials', row, row.id), consumerId };
    this.#credentials.set(row, credential);
    return credential;
  }
}
