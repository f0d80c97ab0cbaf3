import { readFile, stat } from 'node:fs/promises';
import {
  fetchDocument,
  type OutageReporter,
  outageReporter,
  type PluginTools,
  shownUrl,
} from '../../plugin-sdk/index.ts';
import { type Crl, readCrl } from './crl.ts';

export interface CrlSourceOptions {
  /** An `http(s)` URL, or a file. */
  readonly place: string;
  /** Milliseconds for fetching it. */
  readonly timeout: number;
  /** Milliseconds after which it is looked for a newer list, while the one at hand is still used. */
  readonly refresh: number;
  readonly tools: PluginTools;
}

/** Largest list, in bytes; some 400,000 entries. */
const maxBytes = 16 * 1024 * 1024;
/** After a failure nothing is tried for so long, in milliseconds. */
const cooldown = 30_000;
const shortestRefresh = 100;

/**
 * A list that comes from somewhere else. It is used until its `nextUpdate`; a newer one is fetched meanwhile, by one
 * request at a time. When that fails the one at hand goes on to be used.
 */
export class CrlSource {
  readonly #options: CrlSourceOptions;
  readonly #outage: OutageReporter;
  #crl: Crl | null = null;
  /** What was read last. */
  #last: { readonly bytes: Buffer; readonly crl: Crl } | null = null;
  #loading: Promise<void> | null = null;
  /** Milliseconds since the epoch. */
  #nextTry = 0;

  constructor(options: CrlSourceOptions) {
    this.#options = options;
    const { place, tools } = options;
    this.#outage = outageReporter(tools, 'crl_failures', 'a certificate revocation list cannot be loaded', {
      untilSuccess: true,
      fields: { place: isUrl(place) ? shownUrl(place) : place },
    });
  }

  /**
   * The list; null when there is none to be had. It waits only when there is no list that is up to date. `isAuthentic`: the
   * list is signed by who it should be from; such a one is never replaced by another, or by an older one.
   */
  current(now: number, isAuthentic: (crl: Crl) => boolean): Crl | null | Promise<Crl | null> {
    const crl = this.#crl;
    const usable = crl !== null && now < crl.nextUpdate;
    if (now >= this.#nextTry || this.#loading !== null) {
      const loading = this.#load(now, isAuthentic);
      if (!usable) return loading.then(() => this.#crl);
    }
    return crl;
  }

  #load(now: number, isAuthentic: (crl: Crl) => boolean): Promise<void> {
    this.#loading ??= this.#read()
      .then(
        (crl) => {
          this.#outage.succeeded();
          const before = this.#crl;
          const keep = before !== null && isAuthentic(before);
          if (!keep || (isAuthentic(crl) && crl.thisUpdate >= before.thisUpdate)) this.#crl = crl;
          this.#nextTry = now + Math.max(shortestRefresh, this.#options.refresh);
        },
        (error: unknown) => this.#failed(now, error),
      )
      .finally(() => {
        this.#loading = null;
      });
    return this.#loading;
  }

  #failed(now: number, error: unknown): void {
    this.#nextTry = now + cooldown;
    this.#outage(error);
  }

  /** A list that is the same as the last one is not parsed again. */
  async #read(): Promise<Crl> {
    const bytes = await this.#bytes();
    if (this.#last?.bytes.equals(bytes) !== true) this.#last = { bytes, crl: readCrl(bytes) };
    return this.#last.crl;
  }

  async #bytes(): Promise<Buffer> {
    const { place, timeout } = this.#options;
    if (!isUrl(place)) {
      if ((await stat(place)).size > maxBytes) throw new Error(`the file is larger than ${maxBytes} bytes`);
      return await readFile(place);
    }
    const { status, body } = await fetchDocument(place, { timeout, maxBytes });
    if (status !== 200) throw new Error(`${new URL(place).origin} answered ${status}`);
    return body;
  }
}

function isUrl(place: string): boolean {
  return /^https?:/i.test(place);
}
