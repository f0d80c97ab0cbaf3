import { readFile, stat } from 'node:fs/promises';
import { type OutageReporter, outageReporter } from '../../plugin-kit/logging/index.ts';
import { fetchDocument, shownUrl } from '../../plugin-kit/net/index.ts';
import type { PluginTools } from '../../plugin-sdk/index.ts';
import { type Crl, readCrl } from './crl.ts';

export interface CrlSourceOptions {
  /** An `http(s)` URL, or a file. */
  readonly place: string;
  /** Timeout of a fetch, in milliseconds. */
  readonly timeout: number;
  /** Milliseconds after which a newer list is fetched, while the current one stays in use. */
  readonly refresh: number;
  readonly tools: PluginTools;
}

/** Largest list, in bytes; some 400,000 entries. */
const maxBytes = 16 * 1024 * 1024;
/** Milliseconds without an attempt after a failure. */
const cooldown = 30_000;
const shortestRefresh = 100;

/**
 * A list from a URL or file. It is used until its `nextUpdate`; a newer one is fetched meanwhile, by one request at a time.
 * If that fails, the current list stays in use.
 */
export class CrlSource {
  readonly #options: CrlSourceOptions;
  readonly #outage: OutageReporter;
  #crl: Crl | null = null;
  /** The check that accepted the current list. Null: no path had the authority that signed it. */
  #isAuthentic: ((crl: Crl) => boolean) | null = null;
  /** The bytes of the last read. */
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
   * The list; null when no list is available. Waits only when no list is up to date. `isAuthentic`: the list is signed by
   * an authority of the path that is checked. Such a list is replaced only by a newer one from the same authority,
   * whichever path is checked then.
   */
  current(now: number, isAuthentic: (crl: Crl) => boolean): Crl | null | Promise<Crl | null> {
    const crl = this.#checked(isAuthentic);
    const usable = crl !== null && now < crl.nextUpdate;
    if (now >= this.#nextTry || this.#loading !== null) {
      const loading = this.#load(now, isAuthentic);
      if (!usable) return loading.then(() => this.#checked(isAuthentic));
    }
    return crl;
  }

  #checked(isAuthentic: (crl: Crl) => boolean): Crl | null {
    const crl = this.#crl;
    if (crl !== null && this.#isAuthentic === null && isAuthentic(crl)) this.#isAuthentic = isAuthentic;
    return crl;
  }

  #load(now: number, isAuthentic: (crl: Crl) => boolean): Promise<void> {
    this.#loading ??= this.#read()
      .then((crl) => {
        // Malformed entries of an authentic list are a failure, too.
        if (isAuthentic(crl)) crl.revoked();
        this.#outage.succeeded();
        this.#replace(crl, isAuthentic);
        this.#nextTry = now + Math.max(shortestRefresh, this.#options.refresh);
      })
      .catch((error: unknown) => this.#failed(now, error))
      .finally(() => {
        this.#loading = null;
      });
    return this.#loading;
  }

  #replace(crl: Crl, isAuthentic: (crl: Crl) => boolean): void {
    const before = this.#checked(isAuthentic);
    const known = this.#isAuthentic;
    const isKnown = known?.(crl) === true;
    if (before !== null && known !== null) {
      // An authority with a new key keeps its name.
      const isSame = crl.issuer.equals(before.issuer) && (isKnown || isAuthentic(crl));
      if (!isSame || crl.thisUpdate < before.thisUpdate) return;
    }
    this.#crl = crl;
    this.#isAuthentic = isKnown ? known : null;
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
