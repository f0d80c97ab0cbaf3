import { isIP } from 'node:net';
import { BoundedCache } from '../util/bounded-cache.ts';
import { monotonic } from '../util/clock.ts';
import { candidates } from './candidates.ts';
import { encodeName } from './domain-name.ts';
import type { ServerAddress } from './exchange.ts';
import { emptyAnswer, find, invalidName, tooManyAliases } from './find.ts';
import { LocalNames, localTtl } from './local-names.ts';
import { bareName } from './message.ts';
import { QueryCounts } from './query-counts.ts';
import { addressesOf, mostAliases } from './read-records.ts';
import type { RecordTypeName } from './record-types.ts';
import { parseResolvConf, type ResolvConf } from './resolv-conf.ts';
import { Servers } from './servers.ts';
import { ServiceResolver } from './service-resolver.ts';
import { mostAddresses } from './service-targets.ts';
import { TargetMemory } from './target-memory.ts';
import { DnsError, type NameAnswer, type NameResolver } from './types.ts';
import { Walk } from './walk.ts';
import { WatchedFile } from './watched-file.ts';

export interface DnsClientOptions {
  /** `dns_resolver`; empty: those of resolv.conf, and without any 127.0.0.1. */
  readonly servers: readonly ServerAddress[];
  /** `dns_hostsfile`. */
  readonly hostsFile: string;
  /** `dns_order`. */
  readonly order: readonly (RecordTypeName | 'LAST')[];
  /** `dns_valid_ttl`, milliseconds: instead of the records' own times; null: theirs. */
  readonly validTtl: number | null;
  /** `dns_stale_ttl`, milliseconds. */
  readonly staleTtl: number;
  /** `dns_cache_size`: names whose last type, and targets of services whose addresses, are remembered. */
  readonly size: number;
  /** Default: /etc/resolv.conf. */
  readonly resolvConf?: string;
}

/** All questions for one name together, in milliseconds: less than what a worker waits for an answer. */
const longestResolution = 9_000;

interface LastSuccess {
  readonly name: string;
  readonly type: RecordTypeName;
}

/** Asks name servers, as Kong's own resolver does; not the C library's. Answers are remembered by `NameTable`. */
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
      memory: new TargetMemory(options.size, options.staleTtl),
      addressTypes: types.length === 0 ? ['A'] : types,
    });
  }

  /** Rejects with a `DnsError` only. An address is its own answer. */
  async resolve(name: string): Promise<NameAnswer> {
    try {
      const answer = await this.#resolve(name.toLowerCase());
      return { addresses: answer.addresses.slice(0, mostAddresses), ttl: this.#options.validTtl ?? answer.ttl };
    } catch (error) {
      if (error instanceof DnsError) throw error;
      const text = error instanceof Error ? error.message : String(error);
      throw new DnsError('failed', `dns client error: ${text}`, { cause: error });
    }
  }

  /** The servers that are asked now. */
  async servers(): Promise<readonly ServerAddress[]> {
    return this.#serversOf(await this.#conf.current());
  }

  /** Ends what is under way; it rejects. */
  close(): void {
    this.#ending.abort();
  }

  async #resolve(name: string): Promise<NameAnswer> {
    const bare = bareName(name);
    const local = isIP(bare) === 0 ? await this.#local.find(bare) : bare;
    if (local !== null) return plainAnswer([local], bare, localTtl);
    if (encodeName(bare) === null) throw invalidName();
    const walk = await this.#walk();
    try {
      return await this.#walkTypes(name, this.#typesFor(name), walk);
    } catch (error) {
      throw error instanceof DnsError ? walk.explain(error) : error;
    }
  }

  async #walk(): Promise<Walk> {
    const conf = await this.#conf.current();
    const { timeout, attempts, rotate } = conf;
    const deadline = monotonic() + longestResolution;
    return new Walk({ servers: this.#serversOf(conf), timeout, attempts, rotate, deadline }, conf);
  }

  #serversOf(conf: ResolvConf): readonly ServerAddress[] {
    const { servers } = this.#options;
    if (servers.length > 0) return servers;
    return (conf.servers.length > 0 ? conf.servers : ['127.0.0.1']).map((ip) => ({ ip, port: 53 }));
  }

  /** `LAST` stands for the type that was found last time. */
  #typesFor(name: string): readonly RecordTypeName[] {
    const last = this.#last.get(name)?.type;
    const types = this.#options.order.map((entry) => (entry === 'LAST' ? last : entry));
    return [...new Set(types.filter((type) => type !== undefined))];
  }

  async #walkTypes(name: string, types: readonly RecordTypeName[], walk: Walk): Promise<NameAnswer> {
    const names = candidates(name, walk.conf);
    for (const type of types) {
      for (const candidate of names) {
        const answer = await this.#tryType(candidate, type, walk, name);
        if (answer === null) continue;
        this.#last.set(name, { name: candidate, type });
        return answer;
      }
    }
    throw walk.problem;
  }

  /** Null: nothing there, or nobody could tell; the walk knows. */
  async #tryType(candidate: string, type: RecordTypeName, walk: Walk, asked: string): Promise<NameAnswer | null> {
    try {
      return await this.#askType(candidate, type, walk, asked);
    } catch (error) {
      if (!(error instanceof DnsError)) throw error;
      walk.note(candidate, type, error);
      if (error.kind === 'failed' && this.#wasGood(asked, candidate, type)) throw error;
      return null;
    }
  }

  /**
   * What was found there last time may still be there: while nobody can tell, another type or another suffix must not
   * give addresses that mean something else.
   */
  #wasGood(asked: string, candidate: string, type: RecordTypeName): boolean {
    const last = this.#last.get(asked);
    return last !== undefined && last.type === type && last.name === candidate;
  }

  async #askType(candidate: string, type: RecordTypeName, walk: Walk, asked: string): Promise<NameAnswer> {
    if (type === 'CNAME') return this.#followAlias(candidate, walk, asked);
    const answer = await find(this.#servers, candidate, type, walk.ask);
    if (type === 'SRV') return this.#services.resolve(answer, walk.ask);
    return plainAnswer(addressesOf(answer.found.records), bareName(asked), answer.found.ttl);
  }

  /** Looks for every type at the name that an alias leads to. */
  async #followAlias(candidate: string, walk: Walk, asked: string): Promise<NameAnswer> {
    const { found } = await find(this.#servers, candidate, 'CNAME', walk.ask);
    const alias = found.records[0];
    if (alias?.type !== 'CNAME') throw emptyAnswer();
    if (++walk.aliases > mostAliases) throw tooManyAliases();
    const types = this.#options.order.filter((type) => type !== 'LAST');
    const { addresses, ttl } = await this.#walkTypes(`${alias.target}.`, types, walk);
    const name = bareName(asked);
    return {
      addresses: addresses.map((address) => (address.weight === null ? { ...address, name } : address)),
      ttl: Math.min(ttl, found.ttl),
    };
  }
}

function plainAnswer(ips: readonly string[], name: string, ttl: number): NameAnswer {
  return { addresses: ips.map((ip) => ({ ip, port: null, weight: null, name })), ttl };
}
