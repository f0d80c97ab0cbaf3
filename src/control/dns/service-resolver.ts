import { isIP } from 'node:net';
import type { DnsMessage } from './client/message.ts';
import { addressesOf, type Finding, findRecords, isService } from './client/read-records.ts';
import type { QueryOptions, Servers } from './client/servers.ts';
import { type LocalNames, localTtl } from './local-names.ts';
import { type Found, invalidName, queryRecords } from './query-records.ts';
import { type ServiceTarget, serviceAddresses, usableServices } from './service-targets.ts';
import type { TargetCache } from './target-cache.ts';
import { DnsError, type NameAnswer } from './types.ts';

/** Milliseconds until a part of a service that could not be resolved is queried again. */
const partialTtl = 5_000;

export interface ServiceResolverOptions {
  readonly servers: Servers;
  readonly local: LocalNames;
  readonly memory: TargetCache;
  /** At least one. */
  readonly addressTypes: readonly ('A' | 'AAAA')[];
}

interface TargetAddresses {
  readonly ips: readonly string[];
  /** Milliseconds. */
  readonly ttl: number;
}

/** Resolves service records (RFC 2782) to addresses with ports and weights. */
export class ServiceResolver {
  readonly #options: ServiceResolverOptions;

  constructor(options: ServiceResolverOptions) {
    this.#options = options;
  }

  /** Targets without an address are omitted; rejects with a `DnsError` when no target has one. */
  async resolve({ message, found }: Found, queryOptions: QueryOptions): Promise<NameAnswer> {
    const records = usableServices(found.records.filter(isService));
    // Several ports of one target need one query.
    const names = [...new Set(records.map(({ target }) => target))];
    const results = new Map<string, TargetAddresses | DnsError>();
    await Promise.all(
      names.map(async (name) => void results.set(name, await this.#tryTarget(name, message, queryOptions))),
    );
    let { ttl } = found;
    const targets: ServiceTarget[] = [];
    for (const record of records) {
      const result = results.get(record.target);
      if (result === undefined || result instanceof DnsError) continue;
      targets.push({ record, ips: result.ips });
      ttl = Math.min(ttl, result.ttl);
    }
    const problems = [...results.values()].filter((result) => result instanceof DnsError);
    if (targets.length === 0) throw worst(problems);
    return { addresses: serviceAddresses(targets), ttl: problems.length === 0 ? ttl : Math.min(ttl, partialTtl) };
  }

  async #tryTarget(
    target: string,
    message: DnsMessage,
    queryOptions: QueryOptions,
  ): Promise<TargetAddresses | DnsError> {
    try {
      return await this.#target(target, message, queryOptions);
    } catch (error) {
      if (error instanceof DnsError) return error;
      throw error;
    }
  }

  async #target(target: string, message: DnsMessage, queryOptions: QueryOptions): Promise<TargetAddresses> {
    if (isIP(target) !== 0) return { ips: [target], ttl: Number.POSITIVE_INFINITY };
    const local = await this.#options.local.find(target);
    if (local !== null) return { ips: [local], ttl: localTtl };
    return this.#added(target, message) ?? this.#options.memory.fresh(target) ?? this.#query(target, queryOptions);
  }

  /** Many servers include the addresses of targets. */
  #added(target: string, message: DnsMessage): TargetAddresses | null {
    const added = { ...message, answers: message.additional };
    for (const type of this.#options.addressTypes) {
      const found = findRecords(added, target, type);
      if (found.records.length > 0) return this.#learn(target, found);
    }
    return null;
  }

  async #query(target: string, queryOptions: QueryOptions): Promise<TargetAddresses> {
    const problems: DnsError[] = [];
    for (const type of this.#options.addressTypes) {
      try {
        const { found } = await queryRecords(this.#options.servers, target, type, queryOptions);
        return this.#learn(target, found);
      } catch (error) {
        if (!(error instanceof DnsError)) throw error;
        problems.push(error);
      }
    }
    const problem = worst(problems);
    const stale = problem.kind === 'failed' ? this.#options.memory.stale(target) : null;
    if (stale === null) throw problem;
    return { ips: stale, ttl: partialTtl };
  }

  #learn(target: string, { records, ttl }: Finding): TargetAddresses {
    const ips = addressesOf(records);
    this.#options.memory.set(target, ips, ttl);
    return { ips, ttl };
  }
}

/** A failed query takes precedence: the absence of records is then not certain. */
function worst(problems: readonly DnsError[]): DnsError {
  return problems.find(({ kind }) => kind === 'failed') ?? problems[0] ?? invalidName();
}
