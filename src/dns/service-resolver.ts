import { isIP } from 'node:net';
import { type Found, find, invalidName } from './find.ts';
import { type LocalNames, localTtl } from './local-names.ts';
import type { DnsMessage } from './message.ts';
import { addressesOf, type Finding, findRecords, isService } from './read-records.ts';
import type { AskOptions, Servers } from './servers.ts';
import { type ServiceTarget, serviceAddresses, usableServices } from './service-targets.ts';
import type { TargetMemory } from './target-memory.ts';
import { DnsError, type NameAnswer } from './types.ts';

/** When a part of a service could not be resolved, it is asked for again so soon, in milliseconds. */
const partialTtl = 5_000;

export interface ServiceResolverOptions {
  readonly servers: Servers;
  readonly local: LocalNames;
  readonly memory: TargetMemory;
  /** At least one. */
  readonly addressTypes: readonly ('A' | 'AAAA')[];
}

interface TargetAddresses {
  readonly ips: readonly string[];
  /** Milliseconds. */
  readonly ttl: number;
}

/** Turns service records (RFC 2782) into addresses with ports and weights. */
export class ServiceResolver {
  readonly #options: ServiceResolverOptions;

  constructor(options: ServiceResolverOptions) {
    this.#options = options;
  }

  /** Targets without an address are left out; rejects with a `DnsError` when none has one. */
  async resolve({ message, found }: Found, ask: AskOptions): Promise<NameAnswer> {
    const records = usableServices(found.records.filter(isService));
    // Several ports of one target are one question.
    const names = [...new Set(records.map(({ target }) => target))];
    const results = new Map<string, TargetAddresses | DnsError>();
    await Promise.all(names.map(async (name) => void results.set(name, await this.#tryTarget(name, message, ask))));
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

  async #tryTarget(target: string, message: DnsMessage, ask: AskOptions): Promise<TargetAddresses | DnsError> {
    try {
      return await this.#target(target, message, ask);
    } catch (error) {
      if (error instanceof DnsError) return error;
      throw error;
    }
  }

  async #target(target: string, message: DnsMessage, ask: AskOptions): Promise<TargetAddresses> {
    if (isIP(target) !== 0) return { ips: [target], ttl: Number.POSITIVE_INFINITY };
    const local = await this.#options.local.find(target);
    if (local !== null) return { ips: [local], ttl: localTtl };
    return this.#added(target, message) ?? this.#options.memory.fresh(target) ?? this.#ask(target, ask);
  }

  /** Many servers send the addresses of targets along. */
  #added(target: string, message: DnsMessage): TargetAddresses | null {
    const added = { ...message, answers: message.additional };
    for (const type of this.#options.addressTypes) {
      const found = findRecords(added, target, type);
      if (found.records.length > 0) return this.#learn(target, found);
    }
    return null;
  }

  async #ask(target: string, ask: AskOptions): Promise<TargetAddresses> {
    const problems: DnsError[] = [];
    for (const type of this.#options.addressTypes) {
      try {
        const { found } = await find(this.#options.servers, target, type, ask);
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

/** When one server could not tell, it is not certain that there is nothing. */
function worst(problems: readonly DnsError[]): DnsError {
  return problems.find(({ kind }) => kind === 'failed') ?? problems[0] ?? invalidName();
}
