import { hash } from 'node:crypto';
import { BoundedCache } from '../../plugin-kit/runtime/index.ts';
import type { EntityRow, PluginTools } from '../../plugin-sdk/index.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import { type Authority, type CertificatePath, findPath } from './path.ts';
import { Revocation } from './revocation.ts';
import type { MtlsAuthConfig } from './schema.ts';

export type Chain = readonly Uint8Array[];

/** The result of a check, and its lifetime. */
export interface Verdict {
  /** Null: the certificate is refused. */
  readonly accepted: Accepted | null;
  readonly trust: Trust;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

export interface Accepted {
  readonly certificate: Certificate;
  /** Ids of the configured authorities in its path. */
  readonly authorities: ReadonlySet<string>;
  /** Names for the lookup of a consumer: alternative names, then the common name. */
  readonly names: readonly string[];
}

/** The configured authorities, as currently stored. */
interface Trust {
  readonly rows: readonly (EntityRow | null)[];
  readonly authorities: readonly Authority[];
}

const maxNames = 32;

/** Checks certificate chains: once per connection, and equal chains at intervals. */
export class Verification {
  readonly #config: MtlsAuthConfig;
  readonly #tools: PluginTools;
  readonly #revocation: Revocation;
  readonly #lifetime: number;
  #trust: Trust = { rows: [], authorities: [] };
  /** By the chain of a connection, so that its next request needs no hash. */
  readonly #ofConnection = new WeakMap<Chain, Verdict>();
  readonly #ofChain = new BoundedCache<string, Verdict>(10_000);
  readonly #checks = new Map<string, Promise<Verdict>>();

  constructor(config: MtlsAuthConfig, tools: PluginTools) {
    this.#config = config;
    this.#tools = tools;
    this.#revocation = new Revocation(config, tools);
    this.#lifetime = Math.max(0, config.cert_cache_ttl ?? 60_000);
  }

  verdictOn(chain: Chain): Verdict | Promise<Verdict> {
    const trust = this.#currentTrust();
    if (trust instanceof Promise) return trust.then((known) => this.#verdict(chain, known));
    return this.#verdict(chain, trust);
  }

  #verdict(chain: Chain, trust: Trust): Verdict | Promise<Verdict> {
    const now = Date.now();
    const known = this.#ofConnection.get(chain);
    if (known !== undefined && known.until > now && known.trust === trust) return known;
    const key = keyOf(chain);
    const same = this.#ofChain.get(key);
    if (same !== undefined && same.until > now && same.trust === trust) {
      this.#ofConnection.set(chain, same);
      return same;
    }
    return this.#check(chain, key, trust).then((verdict) => {
      this.#ofConnection.set(chain, verdict);
      return verdict;
    });
  }

  /** Concurrent checks of the same certificates are shared. */
  #check(chain: Chain, key: string, trust: Trust): Promise<Verdict> {
    const pending = this.#checks.get(key);
    if (pending !== undefined) {
      return pending.then((verdict) => (verdict.trust === trust ? verdict : this.#check(chain, key, trust)));
    }
    const check = this.#verify(chain, trust).then((verdict) => {
      this.#ofChain.set(key, verdict);
      return verdict;
    });
    const settled = check.finally(() => this.#checks.delete(key));
    this.#checks.set(key, settled);
    return settled;
  }

  async #verify(chain: Chain, trust: Trust): Promise<Verdict> {
    const now = Date.now();
    const path = pathOf(chain, {
      authorities: trust.authorities,
      allowPartial: this.#config.allow_partial_chain,
      now,
    });
    const problem = typeof path === 'string' ? path : await this.#revocation.problemOf(path, now);
    if (problem !== null || typeof path === 'string') {
      this.#tools.log.info('a client certificate was refused', { reason: problem });
      return { accepted: null, trust, until: now + this.#lifetime };
    }
    const ends = path.certificates.map(({ notAfter }) => notAfter);
    return { accepted: acceptedOf(path), trust, until: Math.min(now + this.#lifetime, ...ends) };
  }

  /** The same object as long as none of the authorities has changed. */
  #currentTrust(): Trust | Promise<Trust> {
    const { ca_certificates: ids } = this.#config;
    const { rows } = this.#trust;
    for (let at = 0; at < ids.length; at++) {
      const row = this.#tools.entities.find('ca_certificates', 'id', ids[at]!);
      if (row instanceof Promise || row !== rows[at]) return this.#freshTrust();
    }
    return this.#trust;
  }

  async #freshTrust(): Promise<Trust> {
    const { ca_certificates: ids } = this.#config;
    const rows = await Promise.all(ids.map((id) => this.#tools.entities.find('ca_certificates', 'id', id)));
    if (rows.length === this.#trust.rows.length && rows.every((row, at) => row === this.#trust.rows[at])) {
      return this.#trust;
    }
    const authorities = rows.flatMap((row, at) => {
      const authority = row === null ? null : authorityOf(row);
      if (authority === null) this.#tools.log.error('a CA certificate is missing or not valid', { id: ids[at] });
      return authority === null ? [] : [authority];
    });
    this.#trust = { rows, authorities };
    return this.#trust;
  }
}

function authorityOf(row: EntityRow): Authority | null {
  try {
    return { id: row.id, certificate: readCertificate(String(row['cert'])) };
  } catch {
    return null;
  }
}

function pathOf(chain: Chain, options: Parameters<typeof findPath>[1]): CertificatePath | string {
  try {
    return findPath(chain.map(readCertificate), options);
  } catch (error) {
    return `a certificate is malformed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function acceptedOf({ certificates, authorities }: CertificatePath): Accepted {
  const certificate = certificates[0]!;
  const { alternativeNames, commonName } = certificate;
  const names = new Set([...alternativeNames.slice(0, maxNames), ...(commonName === null ? [] : [commonName])]);
  return { certificate, authorities: new Set(authorities), names: [...names] };
}

/** The intermediate certificates count too: the outcome depends on them. */
function keyOf(chain: Chain): string {
  return chain.map((one) => hash('sha256', one, 'base64')).join('');
}
