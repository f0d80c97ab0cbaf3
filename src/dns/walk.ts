import type { RecordTypeName } from './record-types.ts';
import type { ResolvConf } from './resolv-conf.ts';
import type { AskOptions } from './servers.ts';
import { DnsError } from './types.ts';

const mostTriesShown = 24;

/** One resolution on its way: how to ask, and what was tried. */
export class Walk {
  readonly ask: AskOptions;
  readonly conf: ResolvConf;
  /** Aliases that were asked for as such (type CNAME) and followed. */
  aliases = 0;
  readonly #tries: string[] = [];
  #failed: DnsError | null = null;
  #notFound: DnsError | null = null;

  constructor(ask: AskOptions, conf: ResolvConf) {
    this.ask = ask;
    this.conf = conf;
  }

  /** Notes a try in vain. */
  note(name: string, type: RecordTypeName, error: DnsError): void {
    if (error.kind === 'failed') this.#failed ??= error;
    else this.#notFound = error;
    if (this.#tries.length < mostTriesShown) this.#tries.push(`${name}:${type} - ${error.message}`);
  }

  /** The end of a walk without an answer: when one server could not tell, it is not certain that there is none. */
  get problem(): DnsError {
    return this.#failed ?? this.#notFound ?? new DnsError('not-found', 'dns client error: nothing to ask for');
  }

  /** The problem with all that was tried, as Kong logs it. */
  explain({ kind, message, cause }: DnsError): DnsError {
    return new DnsError(kind, `${message}. Tried: ${JSON.stringify(this.#tries)}`, { cause });
  }
}
