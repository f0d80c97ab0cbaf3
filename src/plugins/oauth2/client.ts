import { createHmac, randomBytes } from 'node:crypto';
import {
  clientGroup,
  type EntityRow,
  equalSecrets,
  FairQueue,
  overloaded,
  type PluginTools,
  type RequestView,
} from '../../plugin-sdk/index.ts';
import { isRefusal, type Refusal, refusals } from './answers.ts';
import { isHashed, matchesHash } from './hash-secret.ts';
import type { Parameters } from './parameters.ts';
import { type Client, clientOf, isLookedUp } from './rows.ts';

/** Who a client says it is. */
export interface ClientClaim {
  /** Spellings of it: Basic credentials may be form-encoded (RFC 6749 2.3.1), and often are not. */
  readonly ids: readonly string[];
  /** Spellings of the secret, likewise; null when none was given. */
  readonly secrets: readonly string[] | null;
  /** It was in the Authorization header. */
  readonly byHeader: boolean;
}

/** The client that authenticated, why it did not, or that there is no time to find out. */
export type ClientOutcome = Client | Refusal | 'busy';

const maxHeaderLength = 8192;
const basic = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i;

/** Null when the request names no client, or two different ones. */
export function readClaim(request: RequestView, parameters: Parameters): ClientClaim | null {
  const id = parameters.get('client_id');
  const secret = parameters.get('client_secret');
  const named = basicCredentials(request.header('authorization'));
  if (named === null)
    return id === null ? null : { ids: [id], secrets: secret === null ? null : [secret], byHeader: false };
  if (id !== null && !named.ids.includes(id)) return null;
  // One way to authenticate only (RFC 6749 2.3).
  return secret === null ? named : null;
}

export function isBasic(request: RequestView): boolean {
  return request.header('authorization')?.toLowerCase().startsWith('basic') ?? false;
}

function basicCredentials(header: string | null): ClientClaim | null {
  if (header === null || header.length > maxHeaderLength) return null;
  const found = basic.exec(header);
  if (found === null) return null;
  const pair = Buffer.from(found[1] ?? '', 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon <= 0) return null;
  return { ids: spellings(pair.slice(0, colon)), secrets: spellings(pair.slice(colon + 1)), byHeader: true };
}

function spellings(text: string): readonly string[] {
  if (!/[%+]/.test(text)) return [text];
  try {
    return [text, decodeURIComponent(text.replaceAll('+', ' '))];
  } catch {
    return [text];
  }
}

/** Checks of hashed secrets, for all plugin instances of this worker: they share libuv's thread pool with file and DNS work. */
const secretChecks = new FairQueue({ concurrency: 2, maxWaiting: 64 });

/** Authenticates clients. Hashes are checked a few at a time, in threads of the pool; verdicts are cached. */
export class ClientAuthenticator {
  readonly #entities: PluginTools['entities'];

  constructor(tools: PluginTools) {
    this.#entities = tools.entities;
  }

  /** The client of that id, without a proof. */
  async find(ids: readonly string[], address: string): Promise<Client | null> {
    for (const id of ids.filter(isLookedUp)) {
      const row = await this.#entities.find('oauth2_credentials', 'client_id', id, address);
      if (row !== null) return clientOf(row);
    }
    return null;
  }

  /** `address`: the IP address of the client, whose secrets are checked in turn with those of others. */
  async authenticate(claim: ClientClaim | null, address: string): Promise<ClientOutcome> {
    const client = claim === null ? null : await this.find(claim.ids, address);
    if (claim === null || client === null) return refusals.client;
    const given = claim.secrets?.filter((secret) => secret !== '') ?? [];
    if (client.isPublic) return given.length > 0 ? refusals.publicSecret : client;
    if (client.secret === null || given.length === 0) return refusals.client;
    const proven = await this.#prove(client.row, client.secret, given, clientGroup(address));
    if (proven === 'busy') return 'busy';
    return proven ? client : refusals.client;
  }

  async #prove(row: EntityRow, stored: string, given: readonly string[], from: string): Promise<boolean | 'busy'> {
    if (!isHashed(stored)) return given.map((secret) => equalSecrets(stored, secret)).includes(true);
    for (const secret of given) {
      const known = remembered(row, secret);
      if (known === true) return true;
      if (known === false) continue;
      const matches = await secretChecks.run(from, () => matchesHash(stored, secret));
      if (matches === overloaded) return 'busy';
      remember(row, secret, matches);
      if (matches) return true;
    }
    return false;
  }
}

export function isClient(outcome: ClientOutcome): outcome is Client {
  return outcome !== 'busy' && !isRefusal(outcome);
}

interface Verdicts {
  good: string | null;
  /** The last wrong one: a client that is set up wrongly tries the same again and again. */
  bad: string | null;
}

/** Of secrets only a keyed digest is kept, and only as long as the credential stays the same. */
const verdicts = new WeakMap<EntityRow, Verdicts>();
const digestKey = randomBytes(32);

function remembered(row: EntityRow, secret: string): boolean | null {
  const known = verdicts.get(row);
  if (known === undefined) return null;
  const digest = digestOf(secret);
  if (known.good === digest) return true;
  return known.bad === digest ? false : null;
}

function remember(row: EntityRow, secret: string, good: boolean): void {
  const known = verdicts.get(row) ?? { good: null, bad: null };
  if (good) known.good = digestOf(secret);
  else known.bad = digestOf(secret);
  verdicts.set(row, known);
}

function digestOf(secret: string): string {
  return createHmac('sha256', digestKey).update(secret).digest('base64');
}
