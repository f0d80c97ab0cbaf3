import { generateKeyPairSync, type JsonWebKey, randomUUID, X509Certificate } from 'node:crypto';
import type { BackgroundReader, BackgroundStore, BackgroundWriter, EntityRow } from '../../plugin-sdk/index.ts';
import type { IssuedCertificate, PublishedChallenge } from './issue.ts';
import { drop, put, read } from './stored-values.ts';

/** Tag of managed certificates and SNIs. */
export const managedTag = 'managed-by-acme';

/**
 * Lease of a host, in seconds. The node extends it while it orders (see issuer.ts). If the node dies, another node can take the host
 * after that time.
 */
export const leaseSeconds = 20;

/** New certificates per hour, over all nodes: limits what unauthenticated clients can cause. */
export const maxOrdersPerHour = 60;

const challengeSeconds = 300;
const maxBackoff = 24 * 3600_000;
const day = 24 * 3600_000;

export interface Account {
  readonly key: JsonWebKey;
  /** Null: not registered yet, as far as is known. */
  readonly url: string | null;
}

/** A certificate that the plugin renews. */
export interface ManagedCertificate {
  readonly host: string;
  /** Null: an administrator deleted or changed it. */
  readonly row: EntityRow | null;
}

/** The record of an issued certificate: its row, and its digest when it was stored. */
interface IssuedRecord {
  readonly id: string;
  readonly digest: string;
}

/** The last failure of a host. */
export interface Failure {
  readonly host: string;
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly count: number;
}

export type Claim =
  | { readonly kind: 'claimed'; readonly lease: string }
  /** Another node has the lease; recent failure; hourly limit; the host has another certificate; the certificate is valid. */
  | { readonly kind: 'busy' | 'backoff' | 'limit' | 'taken' | 'fresh' };

export interface ClaimOptions {
  readonly host: string;
  /** Requested by an administrator: ignores backoff and hourly limit, and replaces a valid certificate. */
  readonly manual: boolean;
  /** Whether a certificate has to be replaced. */
  readonly due: (cert: string) => boolean;
}

/** What the plugin stores, for all nodes that share the database. */
export class AcmeRecords {
  readonly #store: BackgroundStore;
  readonly #nodeId: string;

  constructor(store: BackgroundStore, nodeId: string) {
    this.#store = store;
    this.#nodeId = nodeId;
  }

  /** The account with this name; the first node that needs it creates it. */
  async account(name: string): Promise<Account> {
    const registered = await read<Account>(this.#store, `account:${name}`);
    if (registered !== null) return registered;
    return this.#store.write(async (writer) => {
      const known = await read<Account>(writer, `account:${name}`);
      if (known !== null) return known;
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const account: Account = { key: privateKey.export({ format: 'jwk' }), url: null };
      await put(writer, `account:${name}`, account);
      return account;
    });
  }

  async registered(name: string, account: Account): Promise<void> {
    await this.#store.write((writer) => put(writer, `account:${name}`, account));
  }

  /** Takes the lease of the host for this node, if a certificate may be ordered now. */
  async claim(options: ClaimOptions): Promise<Claim> {
    // Unauthenticated clients choose the hosts: reading first avoids blocking writers.
    const early = await claimProblem(this.#store, options);
    if (early !== null) return early;
    return this.#store.write(async (writer): Promise<Claim> => {
      const late = await claimProblem(writer, options);
      if (late !== null) return late;
      if (!options.manual) await countOrder(writer);
      const lease = randomUUID();
      await put(writer, `lease:${options.host}`, { lease, node: this.#nodeId }, leaseSeconds);
      return { kind: 'claimed', lease };
    });
  }

  /** Begins the lease again. False: it has expired, and another node may have the host. */
  extend(host: string, lease: string): Promise<boolean> {
    return this.#store.write(async (writer) => {
      const held = await read<{ lease: string }>(writer, `lease:${host}`);
      if (held?.lease !== lease) return false;
      await put(writer, `lease:${host}`, { lease, node: this.#nodeId }, leaseSeconds);
      return true;
    });
  }

  /** Stores the certificate and its SNI, or updates them. `lost`: the lease has expired. `taken`: the host has another certificate. */
  save(host: string, lease: string, issued: IssuedCertificate): Promise<'saved' | 'lost' | 'taken'> {
    return this.#store.write(async (writer) => {
      const held = await read<{ lease: string }>(writer, `lease:${host}`);
      if (held?.lease !== lease) return 'lost';
      await drop(writer, `lease:${host}`);
      const { isManaged, sni, current } = await certificateStateOf(writer, host);
      if (!isManaged) return 'taken';
      const { cert, key } = issued;
      const { id } =
        current === null
          ? await writer.insert('certificates', { cert, key, tags: [managedTag] })
          : ((await writer.update('certificates', current.id, { cert, key })) ?? current);
      if (sni === null) await writer.insert('snis', { name: host, certificate: { id }, tags: [managedTag] });
      await put(writer, `certificate:${host}`, { id, digest: digestOf(cert) } satisfies IssuedRecord);
      await drop(writer, `failure:${host}`);
      return 'saved';
    });
  }

  /** Releases the lease. After a failure the host has a backoff, doubled each time; returns it in milliseconds. */
  release(host: string, lease: string, failure: { readonly reason: string; readonly backoff: number } | null) {
    return this.#store.write(async (writer) => {
      const held = await read<{ lease: string }>(writer, `lease:${host}`);
      if (held?.lease === lease) await drop(writer, `lease:${host}`);
      if (failure === null) return 0;
      const count = ((await read<Failure>(writer, `failure:${host}`))?.count ?? 0) + 1;
      const pause = Math.min(failure.backoff * 2 ** Math.min(count - 1, 20), Math.max(maxBackoff, failure.backoff));
      const entry: Failure = { host, reason: failure.reason, until: Date.now() + pause, count };
      await put(writer, `failure:${host}`, entry, Math.ceil((pause + day) / 1000));
      return pause;
    });
  }

  /** Publishes the challenge on all nodes; resolves with a function that removes it and never rejects. */
  async publish(challenge: PublishedChallenge): Promise<() => Promise<void>> {
    const { id } = await this.#store.write((writer) =>
      writer.insert('acme_challenges', { ...challenge, ttl: challengeSeconds }),
    );
    return async () => {
      // It expires anyway.
      await this.#store.write((writer) => writer.delete('acme_challenges', id)).catch(() => {});
    };
  }

  /** All managed certificates. Removes the records of those that an administrator deleted or changed. */
  async managed(): Promise<readonly ManagedCertificate[]> {
    const found = await managedCertificates(
      (entity) => this.#store.all(entity),
      (id) => this.#store.find('certificates', 'id', id),
    );
    const orphaned = found.filter(({ row }) => row === null);
    if (orphaned.length > 0) {
      await this.#store.write(async (writer) => {
        for (const { host } of orphaned) await drop(writer, `certificate:${host}`);
      });
    }
    return found.filter(({ row }) => row !== null);
  }
}

type All = (entity: string) => Promise<readonly EntityRow[]>;

/** `byId` finds a certificate. */
export async function managedCertificates(
  all: All,
  byId: (id: string) => Promise<EntityRow | null>,
): Promise<readonly ManagedCertificate[]> {
  const found: ManagedCertificate[] = [];
  for (const { key, value } of await all('acme_storage')) {
    if (typeof key !== 'string' || !key.startsWith('certificate:')) continue;
    const issued = JSON.parse(String(value)) as IssuedRecord;
    const row = await byId(issued.id);
    found.push({ host: key.slice('certificate:'.length), row: row !== null && isUnchanged(row, issued) ? row : null });
  }
  return found;
}

/** Hosts whose last order failed. */
export async function failures(all: All): Promise<readonly Failure[]> {
  return (await all('acme_storage'))
    .filter(({ key }) => typeof key === 'string' && key.startsWith('failure:'))
    .map(({ value }) => JSON.parse(String(value)) as Failure);
}

/** When the certificate is due for renewal: the threshold before its end, or a third of its lifetime if that is shorter. */
export function renewalTime(cert: string, threshold: number): number {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  const end = validToDate.getTime();
  return end - Math.min(threshold, (end - validFromDate.getTime()) / 3);
}

/**
 * `isManaged`: the host has a managed certificate or none. A certificate that an administrator created or changed is never
 * replaced. `current`: the certificate to update.
 */
async function certificateStateOf(reader: BackgroundReader, host: string) {
  const sni = await reader.find('snis', 'name', host);
  const issued = await read<IssuedRecord>(reader, `certificate:${host}`);
  const row = issued === null ? null : await reader.find('certificates', 'id', issued.id);
  const current = row !== null && issued !== null && isUnchanged(row, issued) ? row : null;
  return { isManaged: sni === null || (current !== null && certificateOf(sni) === current.id), sni, current };
}

function isUnchanged(row: EntityRow, issued: IssuedRecord): boolean {
  return digestOf(String(row['cert'])) === issued.digest;
}

function digestOf(cert: string): string {
  return new X509Certificate(cert).fingerprint256;
}

/** Why the host cannot be claimed now; null: it can be. */
async function claimProblem(reader: BackgroundReader, { host, manual, due }: ClaimOptions): Promise<Claim | null> {
  if ((await read(reader, `lease:${host}`)) !== null) return { kind: 'busy' };
  const { isManaged, sni, current } = await certificateStateOf(reader, host);
  if (!isManaged) return { kind: 'taken' };
  if (manual) return null;
  if (sni !== null && current !== null && !due(String(current['cert']))) return { kind: 'fresh' };
  const failure = await read<Failure>(reader, `failure:${host}`);
  if (failure !== null && failure.until > Date.now()) return { kind: 'backoff' };
  // The limit is for hosts without a certificate, which unauthenticated clients choose.
  return current === null && (await ordersThisHour(reader)) >= maxOrdersPerHour ? { kind: 'limit' } : null;
}

async function ordersThisHour(reader: BackgroundReader): Promise<number> {
  return (await read<{ count: number }>(reader, hourKey()))?.count ?? 0;
}

async function countOrder(writer: BackgroundWriter): Promise<void> {
  await put(writer, hourKey(), { count: (await ordersThisHour(writer)) + 1 }, 7200);
}

function hourKey(): string {
  return `hour:${Math.floor(Date.now() / 3600_000)}`;
}

function certificateOf(sni: EntityRow): string | undefined {
  return (sni['certificate'] as { readonly id: string } | null)?.id;
}
