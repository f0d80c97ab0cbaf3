import { createHmac, randomBytes } from 'node:crypto';
import { equalSecrets } from '../../plugin-kit/auth/index.ts';
import { clientGroup, FairQueue, overloaded } from '../../plugin-kit/runtime/index.ts';
import type { EntityRow, PluginTools, RequestView } from '../../plugin-sdk/index.ts';
import { isHashed, matchesHash } from './hash-secret.ts';
import type { Parameters } from './parameters.ts';
import { isRefusal, type Refusal, refusals } from './responses.ts';
import { type Client, canBeStored, clientOf } from './rows.ts';

/** The credentials that a client sent. */
export interface ClientCredentials {
  /** The id as sent, and form-decoded: Basic credentials should be form-encoded (RFC 6749 2.3.1), but often are not. */
  readonly ids: readonly string[];
  /** The secret as sent, and form-decoded; null if absent. */
  readonly secrets: readonly string[] | null;
  /** Sent in the Authorization header. */
  readonly byHeader: boolean;
}

/** The authenticated client; why authentication failed; or that too many clients authenticate. */
export type ClientOutcome = Client | Refusal | 'busy';

const maxHeaderLength = 8192;
const basic = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i;

/** Null if the request names no client, or two different ones. */
export function readCredentials(request: RequestView, parameters: Parameters): ClientCredentials | null {
  const id = parameters.get('client_id');
  const secret = parameters.get('client_secret');
  const named = basicCredentials(request.header('authorization'));
  if (named === null)
    return id === null ? null : { ids: [id], secrets: secret === null ? null : [secret], byHeader: false };
  if (id !== null && !named.ids.includes(id)) return null;
  // Only one authentication method is allowed (RFC 6749 2.3).
  return secret === null ? named : null;
}

export function isBasic(request: RequestView): boolean {
  return request.header('authorization')?.toLowerCase().startsWith('basic') ?? false;
}

function basicCredentials(header: string | null): ClientCredentials | null {
  if (header === null || header.length > maxHeaderLength) return null;
  const found = basic.exec(header);
  if (found === null) return null;
  const pair = Buffer.from(found[1] ?? '', 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon <= 0) return null;
  return { ids: decodings(pair.slice(0, colon)), secrets: decodings(pair.slice(colon + 1)), byHeader: true };
}

function decodings(text: string): readonly string[] {
  if (!/[%+]/.test(text)) return [text];
  try {
    return [text, decodeURIComponent(text.replaceAll('+', ' '))];
  } catch {
    return [text];
  }
}

/** Checks of hashed secrets of all plugin instances of this worker: they use libuv's thread pool, as files and DNS do. */
const secretChecks = new FairQueue({ concurrency: 2, maxWaiting: 64 });

/** Authenticates clients. Hashes are checked a few at a time, in the thread pool; results are cached. */
export class ClientAuthenticator {
  readonly #entities: PluginTools['entities'];

  constructor(tools: PluginTools) {
    this.#entities = tools.entities;
  }

  /** The client with the id, not authenticated. */
  async find(ids: readonly string[], address: string): Promise<Client | null> {
    for (const id of ids.filter(canBeStored)) {
      const row = await this.#entities.find('oauth2_credentials', 'client_id', id, address);
      if (row !== null) return clientOf(row);
    }
    return null;
  }

  /** `address`: the IP address of the client. Secrets of different addresses are checked round-robin. */
  async authenticate(credentials: ClientCredentials | null, address: string): Promise<ClientOutcome> {
    const client = credentials === null ? null : await this.find(credentials.ids, address);
    if (credentials === null || client === null) return refusals.client;
    const sent = credentials.secrets?.filter((secret) => secret !== '') ?? [];
    if (client.isPublic) return sent.length > 0 ? refusals.publicSecret : client;
    if (client.secret === null || sent.length === 0) return refusals.client;
    const matches = await this.#checkSecret(client.row, client.secret, sent, clientGroup(address));
    if (matches === 'busy') return 'busy';
    return matches ? client : refusals.client;
  }

  async #checkSecret(row: EntityRow, stored: string, sent: readonly string[], from: string): Promise<boolean | 'busy'> {
    if (!isHashed(stored)) return sent.map((secret) => equalSecrets(stored, secret)).includes(true);
    for (const secret of sent) {
      const known = cachedResult(row, secret);
      if (known === true) return true;
      if (known === false) continue;
      const isMatch = await secretChecks.run(from, () => matchesHash(stored, secret));
      if (isMatch === overloaded) return 'busy';
      cacheResult(row, secret, isMatch);
      if (isMatch) return true;
    }
    return false;
  }
}

export function isClient(outcome: ClientOutcome): outcome is Client {
  return outcome !== 'busy' && !isRefusal(outcome);
}

interface CachedResults {
  good: string | null;
  /** The last wrong secret: a misconfigured client repeats the same one. */
  bad: string | null;
}

/** Caches keyed digests of secrets, as long as the credential does not change. */
const results = new WeakMap<EntityRow, CachedResults>();
const digestKey = randomBytes(32);

function cachedResult(row: EntityRow, secret: string): boolean | null {
  const known = results.get(row);
  if (known === undefined) return null;
  const digest = digestOf(secret);
  if (known.good === digest) return true;
  return known.bad === digest ? false : null;
}

function cacheResult(row: EntityRow, secret: string, good: boolean): void {
  const known = results.get(row) ?? { good: null, bad: null };
  if (good) known.good = digestOf(secret);
  else known.bad = digestOf(secret);
  results.set(row, known);
}

function digestOf(secret: string): string {
  return createHmac('sha256', digestKey).update(secret).digest('base64');
}
