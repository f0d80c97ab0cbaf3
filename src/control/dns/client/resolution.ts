import type { ResolvConf } from '../resolv-conf.ts';
import { DnsError } from '../types.ts';
import type { RecordTypeName } from './record-types.ts';
import type { QueryOptions } from './servers.ts';

const maxTriesShown = 24;

/** One resolution in progress: the query options, and the failed attempts. */
export class Resolution {
  readonly queryOptions: QueryOptions;
  readonly conf: ResolvConf;
  /** Aliases that were queried as type CNAME and followed. */
  aliases = 0;
  readonly #tries: string[] = [];
  #failed: DnsError | null = null;
  #notFound: DnsError | null = null;

  constructor(queryOptions: QueryOptions, conf: ResolvConf) {
    this.queryOptions = queryOptions;
    this.conf = conf;
  }

  /** Records a failed attempt. */
  addFailure(name: string, type: RecordTypeName, error: DnsError): void {
    if (error.kind === 'failed') this.#failed ??= error;
    else this.#notFound = error;
    if (this.#tries.length < maxTriesShown) this.#tries.push(`${name}:${type} - ${error.message}`);
  }

  /** The error of a resolution without an answer. A failed query takes precedence: the absence of records is then not certain. */
  get problem(): DnsError {
    return this.#failed ?? this.#notFound ?? new DnsError('not-found', 'dns client error: nothing to ask for');
  }

  /** The error with all attempts, as Kong logs it. */
  explain({ kind, message, cause }: DnsError): DnsError {
    return new DnsError(kind, `${message}. Tried: ${JSON.stringify(this.#tries)}`, { cause });
  }
}
