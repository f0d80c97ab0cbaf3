import { isIP } from 'node:net';
import { BoundedCache } from '../../../shared/util/bounded-cache.ts';
import { monotonic } from '../../../shared/util/time/clock.ts';
import { LocalNames, localTtl } from '../local-names.ts';
import { emptyAnswer, invalidName, queryRecords, tooManyAliases } from '../query-records.ts';
import { parseResolvConf, type ResolvConf } from '../resolv-conf.ts';
import { ServiceResolver } from '../service-resolver.ts';
import { maxAddresses } from '../service-targets.ts';
import { TargetCache } from '../target-cache.ts';
import { DnsError, type NameAnswer, type NameResolver } from '../types.ts';
import { WatchedFile } from '../watched-file.ts';
import { candidates } from './candidates.ts';
import { encodeName } from './domain-name.ts';
import type { ServerAddress } from './exchange.ts';
import { bareName } from './message.ts';
import { QueryCounts } from './query-counts.ts';
import { addressesOf, maxAliases } from './read-records.ts';
import type { RecordTypeName } from './record-types.ts';
import { Resolution } from './resolution.ts';
import { Servers } from './servers.ts';

export interface DnsClientOptions {
  /** `dns_resolver`; empty: those of resolv.conf, and without any 127.0.0.1. */
  readonly servers: readonly ServerAddress[];
  /** `dns_hostsfile`. */
  readonly hostsFile: string;
  /** `dns_order`. */
  readonly order: readonly (RecordTypeName | 'LAST')[];
  /** `dns_valid_ttl`, milliseconds: replaces the TTL of the records; null: their own TTL. */
  readonly validTtl: number | null;
  /** `dns_stale_ttl`, milliseconds. */
  readonly staleTtl: number;
  /** `dns_cache_size`: maximum names whose last type, and service targets whose addresses, are cached. */
  readonly size: number;
  /** Default: /etc/resolv.conf. */
  readonly resolvConf?: string;
}

/** Timeout of all queries for one name together, in milliseconds: less than the timeout of a worker's call. */
const maxResolutionTime = 9_000;

interface LastSuccess {
  readonly name: string;
  readonly type: RecordTypeName;
}

/** Queries name servers, as Kong's own resolver does, without the C library. `NameTable` caches the answers. */
export class DnsClient implements NameResolver {
  readonly counts = new QueryCounts();
  readonly #options: DnsClientOptions;
  readonly #ending = new AbortController();
  readonly #servers = new Servers(this.counts, this.#ending.signal);
  readonly #local: LocalNames;
  readonly #conf: WatchedFile<ResolvConf>;
  readonly #last: BoundedCache<string, LastSuccess>;
  readonly #services: ServiceResolver;

  constructor(options: DnsClientOptions) {
    this.#options = options;
    const types = options.order.filter((type) => type === 'A' || type === 'AAAA');
    this.#local = new LocalNames(options.hostsFile, types[0] === 'AAAA');
    this.#conf = new WatchedFile(options.resolvConf ?? '/etc/resolv.conf', parseResolvConf);
    this.#last = new BoundedCache(options.size);
    this.#services = new ServiceResolver({
      servers: this.#servers,
      local: this.#local,
      memory: new TargetCache(options.size, options.staleTtl),
      addressTypes: types.length === 0 ? ['A'] : types,
    });
  }

  /** Rejects with a `DnsError` only. An address resolves to itself. */
  async resolve(name: string): Promise<NameAnswer> {
    try {
      const answer = await this.#resolve(name.toLowerCase());
      return { addresses: answer.addresses.slice(0, maxAddresses), ttl: this.#options.validTtl ?? answer.ttl };
    } catch (error) {
      if (error instanceof DnsError) throw error;
      const text = error instanceof Error ? error.message : String(error);
      throw new DnsError('failed', `dns client error: ${text}`, { cause: error });
    }
  }

  /** The current name servers. */
  async servers(): Promise<readonly ServerAddress[]> {
    return this.#serversOf(await this.#conf.current());
  }

  /** Aborts queries in progress, which reject. */
  close(): void {
    this.#ending.abort();
  }

  async #resolve(name: string): Promise<NameAnswer> {
    const bare = bareName(name);
    const local = isIP(bare) === 0 ? await this.#local.find(bare) : bare;
    if (local !== null) return plainAnswer([local], bare, localTtl);
    if (encodeName(bare) === null) throw invalidName();
    const resolution = await this.#begin();
    try {
      return await this.#resolveTypes(name, this.#typesFor(name), resolution);
    } catch (error) {
      throw error instanceof DnsError ? resolution.explain(error) : error;
    }
  }

  async #begin(): Promise<Resolution> {
    const conf = await this.#conf.current();
    const { timeout, attempts, rotate } = conf;
    const deadline = monotonic() + maxResolutionTime;
    return new Resolution({ servers: this.#serversOf(conf), timeout, attempts, rotate, deadline }, conf);
  }

  #serversOf(conf: ResolvConf): readonly ServerAddress[] {
    const { servers } = this.#options;
    if (servers.length > 0) return servers;
    return (conf.servers.length > 0 ? conf.servers : ['127.0.0.1']).map((ip) => ({ ip, port: 53 }));
  }

  /** `LAST` means the type that was found last time. */
  #typesFor(name: string): readonly RecordTypeName[] {
    const last = this.#last.get(name)?.type;
    const types = this.#options.order.map((entry) => (entry === 'LAST' ? last : entry));
    return [...new Set(types.filter((type) => type !== undefined))];
  }

  async #resolveTypes(name: string, types: readonly RecordTypeName[], resolution: Resolution): Promise<NameAnswer> {
    const names = candidates(name, resolution.conf);
    for (const type of types) {
      for (const candidate of names) {
        const answer = await this.#tryType(candidate, type, resolution, name);
        if (answer === null) continue;
        this.#last.set(name, { name: candidate, type });
        return answer;
      }
    }
    throw resolution.problem;
  }

  /** Null: no records, or a failure, which the resolution records. */
  async #tryType(
    candidate: string,
    type: RecordTypeName,
    resolution: Resolution,
    queried: string,
  ): Promise<NameAnswer | null> {
    try {
      return await this.#queryType(candidate, type, resolution, queried);
    } catch (error) {
      if (!(error instanceof DnsError)) throw error;
      resolution.addFailure(candidate, type, error);
      if (error.kind === 'failed' && this.#wasGood(queried, candidate, type)) throw error;
      return null;
    }
  }

  /**
   * The records that were found last time may still exist. While the query fails, another type or another suffix must not
   * return addresses that mean something else.
   */
  #wasGood(queried: string, candidate: string, type: RecordTypeName): boolean {
    const last = this.#last.get(queried);
    return last !== undefined && last.type === type && last.name === candidate;
  }

  async #queryType(
    candidate: string,
    type: RecordTypeName,
    resolution: Resolution,
    queried: string,
  ): Promise<NameAnswer> {
    if (type === 'CNAME') return this.#followAlias(candidate, resolution, queried);
    const answer = await queryRecords(this.#servers, candidate, type, resolution.queryOptions);
    if (type === 'SRV') return this.#services.resolve(answer, resolution.queryOptions);
    return plainAnswer(addressesOf(answer.found.records), bareName(queried), answer.found.ttl);
  }

  /** Queries every type at the target of an alias. */
  async #followAlias(candidate: string, resolution: Resolution, queried: string): Promise<NameAnswer> {
    const { found } = await queryRecords(this.#servers, candidate, 'CNAME', resolution.queryOptions);
    const alias = found.records[0];
    if (alias?.type !== 'CNAME') throw emptyAnswer();
    if (++resolution.aliases > maxAliases) throw tooManyAliases();
    const types = this.#options.order.filter((type) => type !== 'LAST');
    const { addresses, ttl } = await this.#resolveTypes(`${alias.target}.`, types, resolution);
    const name = bareName(queried);
    return {
      addresses: addresses.map((address) => (address.weight === null ? { ...address, name } : address)),
      ttl: Math.min(ttl, found.ttl),
    };
  }
}

function plainAnswer(ips: readonly string[], name: string, ttl: number): NameAnswer {
  return { addresses: ips.map((ip) => ({ ip, port: null, weight: null, name })), ttl };
}
