import { generateKeyPairSync, type JsonWebKey, randomUUID, X509Certificate } from 'node:crypto';
import type { BackgroundReader, BackgroundStore, BackgroundWriter, EntityRow } from '../../plugin-sdk/index.ts';
import type { IssuedCertificate, ShownChallenge } from './issue.ts';
import { drop, put, read } from './stored-values.ts';

/** Tag of the certificates and SNIs that are made here. */
export const managedTag = 'managed-by-acme';

/**
 * How long a host is one node's, in seconds; more than an issuance may take (see issuer.ts). When the node dies in
 * between, another one may go on after it.
 */
export const leaseSeconds = 300;

/** New certificates in one hour, over all nodes: a bound for what strangers can make the gateway ask for. */
export const mostEachHour = 60;

const challengeSeconds = 300;
const longestBackoff = 24 * 3600_000;
const day = 24 * 3600_000;

export interface Account {
  readonly key: JsonWebKey;
  /** Null: not registered yet, as far as is known. */
  readonly url: string | null;
}

/** A certificate that is kept fresh here. */
export interface ManagedCertificate {
  readonly host: string;
  /** Null: a person deleted or changed it. */
  readonly row: EntityRow | null;
}

/** What is noted of a certificate that was issued: its row, and its digest then. */
interface Own {
  readonly id: string;
  readonly digest: string;
}

/** Why a host waits. */
export interface Failure {
  readonly host: string;
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly count: number;
}

export type Claim =
  | { readonly kind: 'claimed'; readonly lease: string }
  /** Another node is at it; it failed lately; too many this hour; a person's certificate has the name; it is fresh. */
  | { readonly kind: 'busy' | 'backoff' | 'limit' | 'taken' | 'fresh' };

export interface ClaimOptions {
  readonly host: string;
  /** A person asks: back-offs and the hourly limit do not count, and a fresh certificate is replaced. */
  readonly asked: boolean;
  /** Whether a certificate has to be replaced. */
  readonly due: (cert: string) => boolean;
}

/** What the plugin keeps in the gateway's store, for all nodes that share it. */
export class AcmeRecords {
  readonly #store: BackgroundStore;
  readonly #nodeId: string;

  constructor(store: BackgroundStore, nodeId: string) {
    this.#store = store;
    this.#nodeId = nodeId;
  }

  /** The account of this name, made by whichever node needs it first. */
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

  /** Takes the host for this node, if it may have a certificate now. */
  async claim(options: ClaimOptions): Promise<Claim> {
    // Strangers choose the hosts: what is read first need not make all writers wait.
    const early = await hindrance(this.#store, options);
    if (early !== null) return early;
    return this.#store.write(async (writer): Promise<Claim> => {
      const late = await hindrance(writer, options);
      if (late !== null) return late;
      if (!options.asked) await countHour(writer);
      const lease = randomUUID();
      await put(writer, `lease:${options.host}`, { lease, node: this.#nodeId }, leaseSeconds);
      return { kind: 'claimed', lease };
    });
  }

  /** Stores the certificate and its SNI, or renews them in place. False: the host is not this node's any more. */
  save(host: string, lease: string, issued: IssuedCertificate): Promise<'saved' | 'lost' | 'taken'> {
    return this.#store.write(async (writer) => {
      const held = await read<{ lease: string }>(writer, `lease:${host}`);
      if (held?.lease !== lease) return 'lost';
      await drop(writer, `lease:${host}`);
      const { mine, sni, current } = await holderOf(writer, host);
      if (!mine) return 'taken';
      const { cert, key } = issued;
      const { id } =
        current === null
          ? await writer.insert('certificates', { cert, key, tags: [managedTag] })
          : ((await writer.update('certificates', current.id, { cert, key })) ?? current);
      if (sni === null) await writer.insert('snis', { name: host, certificate: { id }, tags: [managedTag] });
      await put(writer, `certificate:${host}`, { id, digest: digestOf(cert) } satisfies Own);
      await drop(writer, `failure:${host}`);
      return 'saved';
    });
  }

  /** Gives the host back. With a reason it waits, longer with every failure; gives for how long, in milliseconds. */
  release(host: string, lease: string, failure: { readonly reason: string; readonly backoff: number } | null) {
    return this.#store.write(async (writer) => {
      const held = await read<{ lease: string }>(writer, `lease:${host}`);
      if (held?.lease === lease) await drop(writer, `lease:${host}`);
      if (failure === null) return 0;
      const count = ((await read<Failure>(writer, `failure:${host}`))?.count ?? 0) + 1;
      const pause = Math.min(failure.backoff * 2 ** Math.min(count - 1, 20), Math.max(longestBackoff, failure.backoff));
      const entry: Failure = { host, reason: failure.reason, until: Date.now() + pause, count };
      await put(writer, `failure:${host}`, entry, Math.ceil((pause + day) / 1000));
      return pause;
    });
  }

  /** Makes the challenge known to all workers of all nodes; what it gives takes it back and never rejects. */
  async show(challenge: ShownChallenge): Promise<() => Promise<void>> {
    const { id } = await this.#store.write((writer) =>
      writer.insert('acme_challenges', { ...challenge, ttl: challengeSeconds }),
    );
    return async () => {
      // It expires anyway.
      await this.#store.write((writer) => writer.delete('acme_challenges', id)).catch(() => {});
    };
  }

  /** Every certificate that is kept fresh here. Those that a person has deleted or changed are forgotten. */
  async managed(): Promise<readonly ManagedCertificate[]> {
    const found = await managedCertificates(
      (entity) => this.#store.all(entity),
      (id) => this.#store.find('certificates', 'id', id),
    );
    const gone = found.filter(({ row }) => row === null);
    if (gone.length > 0) {
      await this.#store.write(async (writer) => {
        for (const { host } of gone) await drop(writer, `certificate:${host}`);
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
    const own = JSON.parse(String(value)) as Own;
    const row = await byId(own.id);
    found.push({ host: key.slice('certificate:'.length), row: row !== null && isOwn(row, own) ? row : null });
  }
  return found;
}

/** Hosts that wait because they could not get a certificate. */
export async function failures(all: All): Promise<readonly Failure[]> {
  return (await all('acme_storage'))
    .filter(({ key }) => typeof key === 'string' && key.startsWith('failure:'))
    .map(({ value }) => JSON.parse(String(value)) as Failure);
}

/** When the certificate has to be replaced: within the threshold of its end, or a third of its life where that is less. */
export function renewalTime(cert: string, threshold: number): number {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  const end = validToDate.getTime();
  return end - Math.min(threshold, (end - validFromDate.getTime()) / 3);
}

/**
 * Whether the host's certificate is kept here, or it has none: what a person made or changed is never touched. `current`:
 * the certificate to renew in place.
 */
async function holderOf(reader: BackgroundReader, host: string) {
  const sni = await reader.find('snis', 'name', host);
  const own = await read<Own>(reader, `certificate:${host}`);
  const row = own === null ? null : await reader.find('certificates', 'id', own.id);
  const current = row !== null && own !== null && isOwn(row, own) ? row : null;
  return { mine: sni === null || (current !== null && certificateOf(sni) === current.id), sni, current };
}

function isOwn(row: EntityRow, own: Own): boolean {
  return digestOf(String(row['cert'])) === own.digest;
}

function digestOf(cert: string): string {
  return new X509Certificate(cert).fingerprint256;
}

/** Why the host cannot be claimed now; null: it can. */
async function hindrance(reader: BackgroundReader, { host, asked, due }: ClaimOptions): Promise<Claim | null> {
  if ((await read(reader, `lease:${host}`)) !== null) return { kind: 'busy' };
  const { mine, sni, current } = await holderOf(reader, host);
  if (!mine) return { kind: 'taken' };
  if (asked) return null;
  if (sni !== null && current !== null && !due(String(current['cert']))) return { kind: 'fresh' };
  const failure = await read<Failure>(reader, `failure:${host}`);
  if (failure !== null && failure.until > Date.now()) return { kind: 'backoff' };
  // Strangers choose no host that has a certificate already.
  return current === null && (await ordersThisHour(reader)) >= mostEachHour ? { kind: 'limit' } : null;
}

async function ordersThisHour(reader: BackgroundReader): Promise<number> {
  return (await read<{ count: number }>(reader, hourKey()))?.count ?? 0;
}

async function countHour(writer: BackgroundWriter): Promise<void> {
  await put(writer, hourKey(), { count: (await ordersThisHour(writer)) + 1 }, 7200);
}

function hourKey(): string {
  return `hour:${Math.floor(Date.now() / 3600_000)}`;
}

function certificateOf(sni: EntityRow): string | undefined {
  return (sni['certificate'] as { readonly id: string } | null)?.id;
}
