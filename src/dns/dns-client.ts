import { isIP } from 'node:net';
import { BoundedCache } from '../util/bounded-cache.ts';
import { monotonic } from '../util/clock.ts';
import { candidates } from './candidates.ts';
import { encodeName } from './domain-name.ts';
import type { ServerAddress } from './exchange.ts';
import { type HostAddresses, type Hosts, isLocalhost, parseHosts } from './hosts-file.ts';
import { bareName, type DnsMessage } from './message.ts';
import { QueryCounts } from './query-counts.ts';
import { addressesOf, type Finding, findRecords, isService, mostAliases } from './read-records.ts';
import type { RecordTypeName } from './record-types.ts';
import { parseResolvConf, type ResolvConf } from './resolv-conf.ts';
import { Servers } from './servers.ts';
import { mostAddresses, type ServiceTarget, serviceAddresses, usableServices } from './service-targets.ts';
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

/** All questions for one name together. */
const longestResolution = 15_000;
/** Names of the hosts file are looked at again so often; that sends nothing. */
const hostsTtl = 5_000;
/** When a part of a service could not be resolved, it is asked for again soon. */
const partialTtl = 5_000;

interface LastSuccess {
  readonly name: string;
  readonly type: RecordTypeName;
}

/** Asks name servers, as Kong's own resolver does; not the C library's. Remembers no answers: `NameTable` does. */
export class DnsClient implements NameResolver {
  readonly counts = new QueryCounts();
  readonly #options: DnsClientOptions;
  readonly #ending = new AbortController();
  readonly #servers = new Servers(this.counts, this.#ending.signal);
  readonly #hosts: WatchedFile<Hosts>;
  readonly #conf: WatchedFile<ResolvConf>;
  readonly #last: BoundedCache<string, LastSuccess>;
  readonly #targets: TargetMemory;
  readonly #addressTypes: readonly ('A' | 'AAAA')[];

  constructor(options: DnsClientOptions) {
    this.#options = options;
    this.#hosts = new WatchedFile(options.hostsFile, parseHosts);
    this.#conf = new WatchedFile(options.resolvConf ?? '/etc/resolv.conf', parseResolvConf);
    this.#last = new BoundedCache(options.size);
    this.#targets = new TargetMemory(options.size, options.staleTtl);
    const types = options.order.filter((type) => type === 'A' || type === 'AAAA');
    this.#addressTypes = types.length === 0 ? ['A'] : types;
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
    const local = isIP(bare) === 0 ? await this.#local(bare) : bare;
    if (local !== null) return plainAnswer([local], bare, hostsTtl);
    if (encodeName(bare) === null) throw new DnsError('not-found', 'dns client error: invalid name');
    const walk = await this.#walk();
    return this.#walkTypes(name, this.#typesFor(name), walk);
  }

  /** From the hosts file; null: it has no such name. */
  async #local(name: string): Promise<string | null> {
    const listed = (await this.#hosts.current()).get(name);
    if (listed !== undefined) return this.#preferred(listed);
    return isLocalhost(name) ? '127.0.0.1' : null;
  }

  #preferred({ ipv4, ipv6 }: HostAddresses): string | null {
    return this.#addressTypes[0] === 'AAAA' ? (ipv6 ?? ipv4) : (ipv4 ?? ipv6);
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
    throw walk.error();
  }

  /** Null: nothing there, or nobody could tell; the walk knows. */
  async #tryType(candidate: string, type: RecordTypeName, walk: Walk, asked: string): Promise<NameAnswer | null> {
    try {
      if (encodeName(candidate) === null) throw new DnsError('not-found', 'dns client error: invalid name');
      return await this.#askType(candidate, type, walk, asked);
    } catch (error) {
      if (!(error instanceof DnsError)) throw error;
      walk.note(candidate, type, error);
      if (error.kind === 'failed' && this.#wasGood(asked, candidate, type)) throw walk.error();
      return null;
    }
  }

  /**
   * What was found there last time may still be there: while nobody can tell, another type or another suffix must not
   * give addresses that mean something else.
   */
  #wasGood(asked: string, candidate: string, type: RecordTypeName): boolean {
    const last = this.#options.order.includes('LAST') ? this.#last.get(asked) : undefined;
    return last !== undefined && last.type === type && last.name === candidate;
  }

  async #askType(candidate: string, type: RecordTypeName, walk: Walk, asked: string): Promise<NameAnswer> {
    if (type === 'CNAME') return this.#followAlias(candidate, walk, asked);
    const { message, found } = await this.#find(candidate, type, walk);
    if (type === 'SRV') return this.#services(message, found, walk);
    return plainAnswer(addressesOf(found.records), bareName(asked), found.ttl);
  }

  /** The records at the end of all aliases. Rejects when there are none. */
  async #find(name: string, type: RecordTypeName, walk: Walk): Promise<{ message: DnsMessage; found: Finding }> {
    let asked = name;
    let ttl = Number.POSITIVE_INFINITY;
    for (let aliases = 0; aliases <= mostAliases; aliases++) {
      const message = await this.#servers.ask(asked, type, walk.ask);
      const found = findRecords(message, asked, type);
      ttl = Math.min(ttl, found.ttl);
      if (found.records.length > 0) return { message, found: { ...found, ttl } };
      if (message.code !== 0) throw new DnsError('not-found', 'dns server error: 3 name error');
      // Servers that do not follow aliases themselves leave that to us.
      if (found.name === bareName(asked))
        throw new DnsError('not-found', 'dns client error: 101 empty record received');
      if (encodeName(found.name) === null) throw new DnsError('failed', 'dns client error: invalid name in an alias');
      asked = found.name;
    }
    throw tooManyAliases();
  }

  /** Looks for every type at the name that an alias leads to. */
  async #followAlias(candidate: string, walk: Walk, asked: string): Promise<NameAnswer> {
    const { found } = await this.#find(candidate, 'CNAME', walk);
    const alias = found.records[0];
    if (alias?.type !== 'CNAME') throw new DnsError('not-found', 'dns client error: 101 empty record received');
    if (++walk.aliases > mostAliases) throw tooManyAliases();
    const types = this.#options.order.filter((type) => type !== 'LAST');
    const answer = await this.#walkTypes(`${alias.target}.`, types, walk);
    const addresses = answer.addresses.map((address) =>
      address.name === alias.target ? { ...address, name: bareName(asked) } : address,
    );
    return { addresses, ttl: Math.min(answer.ttl, found.ttl) };
  }

  async #services(message: DnsMessage, { records, ttl }: Finding, walk: Walk): Promise<NameAnswer> {
    let shortest = ttl;
    let problem: DnsError | null = null;
    const resolved = await Promise.all(
      usableServices(records.filter(isService)).map(async (record): Promise<ServiceTarget> => {
        try {
          const target = await this.#target(record.target, message, walk);
          shortest = Math.min(shortest, target.ttl);
          return { record, ips: target.ips };
        } catch (error) {
          if (!(error instanceof DnsError)) throw error;
          if (problem === null || error.kind === 'failed') problem = error;
          shortest = Math.min(shortest, partialTtl);
          return { record, ips: [] };
        }
      }),
    );
    const addresses = serviceAddresses(resolved.filter(({ ips }) => ips.length > 0));
    if (addresses.length > 0) return { addresses, ttl: shortest };
    throw problem ?? new DnsError('not-found', 'dns client error: 101 empty record received');
  }

  async #target(target: string, message: DnsMessage, walk: Walk): Promise<{ ips: readonly string[]; ttl: number }> {
    if (isIP(target) !== 0) return { ips: [target], ttl: Number.POSITIVE_INFINITY };
    const local = await this.#local(target);
    if (local !== null) return { ips: [local], ttl: hostsTtl };
    const added = { ...message, answers: message.additional };
    for (const type of this.#addressTypes) {
      const found = findRecords(added, target, type);
      if (found.records.length > 0) return this.#learn(target, found);
    }
    return this.#targets.fresh(target) ?? this.#askTarget(target, walk);
  }

  async #askTarget(target: string, walk: Walk): Promise<{ ips: readonly string[]; ttl: number }> {
    let problem = new DnsError('not-found', 'dns client error: invalid name');
    if (encodeName(target) === null) throw problem;
    for (const type of this.#addressTypes) {
      try {
        const { found } = await this.#find(target, type, walk);
        return this.#learn(target, found);
      } catch (error) {
        if (!(error instanceof DnsError)) throw error;
        if (problem.kind !== 'failed') problem = error;
      }
    }
    const stale = problem.kind === 'failed' ? this.#targets.stale(target) : null;
    if (stale === null) throw problem;
    return { ips: stale, ttl: partialTtl };
  }

  #learn(target: string, { records, ttl }: Finding): { ips: readonly string[]; ttl: number } {
    const ips = addressesOf(records);
    this.#targets.set(target, ips, ttl);
    return { ips, ttl };
  }
}

function tooManyAliases(): DnsError {
  return new DnsError('failed', 'dns client error: too many aliases');
}

function plainAnswer(ips: readonly string[], name: string, ttl: number): NameAnswer {
  return { addresses: ips.map((ip) => ({ ip, port: null, weight: null, name })), ttl };
}
