import { throttledLog } from '../../plugin-kit/logging/index.ts';
import type { BackgroundTools, ConfiguredInstance, PluginBackground } from '../../plugin-sdk/index.ts';
import { isCertifiable, plainName } from './domains.ts';
import { HostQueue } from './host-queue.ts';
import { Issuer, type Outcome } from './issuer.ts';
import { leaseSeconds, renewalTime } from './records.ts';
import type { AcmeConfig } from './schema.ts';
import { type AcmeSettings, settingsOf } from './settings.ts';

/** Messages to the background task. Workers send `wanted`, the Admin API the others. */
export type AcmeMessage =
  /** A client (`clientGroup` of its address) requested a host that has no certificate. */
  | { readonly type: 'wanted'; readonly host: string; readonly client: string }
  /** An administrator requests a certificate; answered with an `Outcome`, or `refused`. */
  | { readonly type: 'issue'; readonly host: string }
  | { readonly type: 'renew' }
  /** Publishes a challenge that the caller then fetches; answered with whether the host is allowed. */
  | { readonly type: 'probe'; readonly host: string; readonly token: string; readonly answer: string };

const firstRenewalCheck = 60_000;
const renewalCheckInterval = 6 * 3600_000;
/** Spreads the checks of nodes that were started together. */
const jitter = 0.2;
/** Milliseconds before the next attempt for a host; the backoff in the store applies in addition. */
const retryPause = 60_000;
/** Milliseconds until a host that another node has is looked at again: that node may have died. */
const takeOverPause = (leaseSeconds + 2) * 1000;
/** Maximum hosts that are looked at again. */
const maxLookingAgain = 100;
/** Minimum milliseconds between log lines about a full queue. */
const fullLogInterval = 10_000;

export const background = (tools: BackgroundTools): PluginBackground => new AcmeBackground(tools);

class AcmeBackground implements PluginBackground {
  readonly #tools: BackgroundTools;
  readonly #issuer: Issuer;
  #settings: AcmeSettings | null = null;
  readonly #waiting = new HostQueue();
  /** The host whose certificate is being issued. */
  #current: string | null = null;
  readonly #logFullQueue: (host: string) => void;
  readonly #pausedUntil = new Map<string, number>();
  /** Hosts that another node has. */
  readonly #lookingAgain = new Map<string, NodeJS.Timeout>();
  #working: Promise<void> | null = null;
  /** Pending orders of administrators. */
  readonly #requested = new Set<Promise<Outcome>>();
  #timer: NodeJS.Timeout;

  constructor(tools: BackgroundTools) {
    this.#tools = tools;
    this.#issuer = new Issuer(tools);
    this.#logFullQueue = throttledLog(fullLogInterval, (host, suppressed) =>
      tools.log.warn('too many hosts wait for a certificate; dropping one', { host, suppressed }),
    );
    this.#timer = this.#scheduleRenewals(firstRenewalCheck);
  }

  configured([instance]: readonly ConfiguredInstance[]): void {
    try {
      const { trustedCertificates } = this.#tools.settings;
      this.#settings = instance === undefined ? null : settingsOf(instance.config as AcmeConfig, trustedCertificates);
    } catch (error) {
      this.#settings = null;
      this.#tools.log.error('the configuration cannot be applied; no certificates are ordered', {
        reason: error instanceof Error ? error.message : 'unknown',
      });
    }
    // What failed with the old configuration may succeed with the new one.
    this.#pausedUntil.clear();
  }

  async handle(message: unknown): Promise<unknown> {
    const request = message as AcmeMessage;
    switch (request.type) {
      case 'wanted':
        return this.#wanted(plainName(request.host), request.client);
      case 'issue':
        return this.#issueNow(plainName(request.host));
      case 'renew':
        return this.#renew();
      case 'probe':
        return this.#probe(request.host, request.token, request.answer);
    }
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    for (const timer of this.#lookingAgain.values()) clearTimeout(timer);
    this.#lookingAgain.clear();
    this.#waiting.clear();
    await Promise.allSettled([this.#working, ...this.#requested]);
  }

  #allows(host: string): boolean {
    return isCertifiable(host) && this.#settings?.allows(host) === true;
  }

  /** True: the host is being processed, or in the queue. */
  #wanted(host: string, client: string): boolean {
    if (host === this.#current || this.#waiting.has(host)) return true;
    if (!this.#allows(host) || (this.#pausedUntil.get(host) ?? 0) > Date.now()) return false;
    const dropped = this.#waiting.add(host, client);
    if (dropped !== null) this.#logFullQueue(dropped);
    this.#working ??= this.#work();
    return dropped !== host;
  }

  /** Processes one host at a time: authorities have rate limits, and no client waits. */
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
      if (kind === 'busy') this.#lookAgain(host);
      if (kind === 'limit')
        this.#tools.log.warn('hourly limit of new certificates reached; the host has to wait', { host });
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown';
      if (!this.#tools.signal.aborted) this.#tools.log.error('certificate could not be issued', { host, reason });
    }
    this.#pause(host);
  }

  #lookAgain(host: string): void {
    if (this.#lookingAgain.size >= maxLookingAgain || this.#lookingAgain.has(host)) return;
    const timer = setTimeout(() => {
      this.#lookingAgain.delete(host);
      if (this.#tools.signal.aborted || !this.#allows(host)) return;
      this.#waiting.addRenewal(host);
      this.#working ??= this.#work();
    }, takeOverPause).unref();
    this.#lookingAgain.set(host, timer);
  }

  #pause(host: string): void {
    const now = Date.now();
    if (this.#pausedUntil.size >= 1000) {
      for (const [name, until] of this.#pausedUntil) if (until <= now) this.#pausedUntil.delete(name);
      if (this.#pausedUntil.size >= 1000) this.#pausedUntil.clear();
    }
    this.#pausedUntil.set(host, now + retryPause);
  }

  async #issueNow(host: string): Promise<Outcome | { readonly kind: 'refused' }> {
    const settings = this.#settings;
    if (settings === null || !this.#allows(host)) return { kind: 'refused' };
    const issuing = this.#issuer.issue(host, settings, true);
    this.#requested.add(issuing);
    try {
      return await issuing;
    } finally {
      this.#requested.delete(issuing);
    }
  }

  async #probe(host: string, token: string, answer: string): Promise<boolean> {
    if (!this.#allows(host)) return false;
    await this.#issuer.records.publish({ type: 'http-01', host, token, answer });
    return true;
  }

  /** Adds the certificates that are due for renewal to the queue; returns their number. */
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

  #scheduleRenewals(milliseconds: number): NodeJS.Timeout {
    const delay = milliseconds * (1 + Math.random() * jitter);
    return setTimeout(() => {
      this.#timer = this.#scheduleRenewals(renewalCheckInterval);
      this.#renew().catch((error) => {
        const reason = error instanceof Error ? error.message : 'unknown';
        this.#tools.log.error('cannot check certificates for renewal', { reason });
      });
    }, delay).unref();
  }
}
