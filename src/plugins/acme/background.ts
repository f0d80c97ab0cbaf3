import {
  type BackgroundInstance,
  type BackgroundTools,
  nowAndThen,
  type PluginBackground,
} from '../../plugin-sdk/index.ts';
import { isCertifiable, plainName } from './domains.ts';
import { Issuer, type Outcome } from './issuer.ts';
import { renewalTime } from './records.ts';
import type { AcmeConfig } from './schema.ts';
import { type AcmeSettings, settingsOf } from './settings.ts';
import { WaitingHosts } from './waiting-hosts.ts';

/** Messages to the background part. Workers send `wanted`, the Admin API the others. */
export type AcmeMessage =
  /** A client (`clientGroup` of its address) asked for a host that has no certificate. */
  | { readonly type: 'wanted'; readonly host: string; readonly client: string }
  /** A person asks for a certificate; answered with an `Outcome`, or `refused`. */
  | { readonly type: 'issue'; readonly host: string }
  | { readonly type: 'renew' }
  /** Shows a challenge that the caller may then look for; answered with whether the host is allowed. */
  | { readonly type: 'probe'; readonly host: string; readonly token: string; readonly answer: string };

const firstLook = 60_000;
const lookInterval = 6 * 3600_000;
/** Nodes that were started together need not look together. */
const jitter = 0.2;
/** How long a host is left alone after nothing came of it, in milliseconds; the store has the last word. */
const quiet = 60_000;
/** Milliseconds between two lines about hosts for which there was no room. */
const fullInterval = 10_000;

export const background = (tools: BackgroundTools): PluginBackground => new AcmeBackground(tools);

class AcmeBackground implements PluginBackground {
  readonly #tools: BackgroundTools;
  readonly #issuer: Issuer;
  #settings: AcmeSettings | null = null;
  readonly #waiting = new WaitingHosts();
  /** The host whose certificate is being issued. */
  #current: string | null = null;
  readonly #tellFull: (host: string) => void;
  readonly #quietUntil = new Map<string, number>();
  #working: Promise<void> | null = null;
  /** What persons asked for and is under way. */
  readonly #asked = new Set<Promise<Outcome>>();
  #timer: NodeJS.Timeout;

  constructor(tools: BackgroundTools) {
    this.#tools = tools;
    this.#issuer = new Issuer(tools);
    this.#tellFull = nowAndThen(fullInterval, (host, unsaid) =>
      tools.log.warn('too many hosts wait for a certificate: one is left out', { host, unsaid }),
    );
    this.#timer = this.#lookIn(firstLook);
  }

  configured([instance]: readonly BackgroundInstance[]): void {
    try {
      const { trustedCertificates } = this.#tools.settings;
      this.#settings = instance === undefined ? null : settingsOf(instance.config as AcmeConfig, trustedCertificates);
    } catch (error) {
      this.#settings = null;
      this.#tools.log.error('the plugin cannot work', { reason: error instanceof Error ? error.message : 'unknown' });
    }
    // What failed for the old configuration may do for the new one.
    this.#quietUntil.clear();
  }

  async handle(message: unknown): Promise<unknown> {
    const wish = message as AcmeMessage;
    switch (wish.type) {
      case 'wanted':
        return this.#wanted(plainName(wish.host), wish.client);
      case 'issue':
        return this.#issueNow(plainName(wish.host));
      case 'renew':
        return this.#renew();
      case 'probe':
        return this.#probe(wish.host, wish.token, wish.answer);
    }
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#waiting.clear();
    await Promise.allSettled([this.#working, ...this.#asked]);
  }

  #allows(host: string): boolean {
    return isCertifiable(host) && this.#settings?.allows(host) === true;
  }

  /** True when it is, or will be, looked after. */
  #wanted(host: string, client: string): boolean {
    if (host === this.#current || this.#waiting.has(host)) return true;
    if (!this.#allows(host) || (this.#quietUntil.get(host) ?? 0) > Date.now()) return false;
    const leftOut = this.#waiting.add(host, client);
    if (leftOut !== null) this.#tellFull(leftOut);
    this.#working ??= this.#work();
    return leftOut !== host;
  }

  /** One after the other: authorities have limits, and nobody waits for it. */
  async #work(): Promise<void> {
    for (let host = this.#waiting.next(); host !== null; host = this.#waiting.next()) {
      const settings = this.#settings;
      if (settings === null || this.#tools.signal.aborted) break;
      this.#current = host;
      await this.#attempt(host, settings);
    }
    this.#current = null;
    this.#waiting.clear();
    this.#working = null;
  }

  async #attempt(host: string, settings: AcmeSettings): Promise<void> {
    try {
      const { kind } = await this.#issuer.issue(host, settings, false);
      if (kind === 'limit') this.#tools.log.warn('too many certificates in this hour: a host has to wait', { host });
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown';
      if (!this.#tools.signal.aborted) this.#tools.log.error('no certificate could be had', { host, reason });
    }
    this.#keepQuiet(host);
  }

  #keepQuiet(host: string): void {
    const now = Date.now();
    if (this.#quietUntil.size >= 1000) {
      for (const [name, until] of this.#quietUntil) if (until <= now) this.#quietUntil.delete(name);
      if (this.#quietUntil.size >= 1000) this.#quietUntil.clear();
    }
    this.#quietUntil.set(host, now + quiet);
  }

  async #issueNow(host: string): Promise<Outcome | { readonly kind: 'refused' }> {
    const settings = this.#settings;
    if (settings === null || !this.#allows(host)) return { kind: 'refused' };
    const issuing = this.#issuer.issue(host, settings, true);
    this.#asked.add(issuing);
    try {
      return await issuing;
    } finally {
      this.#asked.delete(issuing);
    }
  }

  async #probe(host: string, token: string, answer: string): Promise<boolean> {
    if (!this.#allows(host)) return false;
    await this.#issuer.records.show({ type: 'http-01', host, token, answer });
    return true;
  }

  /** Takes what has to be renewed into the queue; gives how many there are. */
  async #renew(): Promise<number> {
    const settings = this.#settings;
    if (settings === null) return 0;
    const managed = await this.#issuer.records.managed();
    const due = managed.filter(({ host, row }) => {
      const cert = String(row?.['cert'] ?? '');
      return this.#allows(host) && renewalTime(cert, settings.renewalThreshold) <= Date.now();
    });
    for (const { host } of due) if (host !== this.#current) this.#waiting.addRenewal(host);
    if (due.length > 0) this.#working ??= this.#work();
    return due.length;
  }

  #lookIn(milliseconds: number): NodeJS.Timeout {
    const delay = milliseconds * (1 + Math.random() * jitter);
    return setTimeout(() => {
      this.#timer = this.#lookIn(lookInterval);
      this.#renew().catch((error) => {
        const reason = error instanceof Error ? error.message : 'unknown';
        this.#tools.log.error('certificates cannot be looked through', { reason });
      });
    }, delay).unref();
  }
}
