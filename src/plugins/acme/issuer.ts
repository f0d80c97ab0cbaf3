import { setTimeout as wait } from 'node:timers/promises';
import type { BackgroundTools } from '../../plugin-sdk/index.ts';
import { AcmeProblem, shortText } from './acme-problem.ts';
import { AcmeServer, type Signer } from './acme-server.ts';
import { type IssuedCertificate, issueCertificate, type PublishedChallenge, register } from './issue.ts';
import { AcmeRecords, type Claim, leaseSeconds, renewalTime } from './records.ts';
import type { AcmeSettings } from './settings.ts';

/** Timeout for one certificate, from order to download, in milliseconds. */
const orderTimeout = 180_000;
/** Milliseconds between two extensions of the lease: two may fail. */
const extendInterval = (leaseSeconds * 1000) / 4;

export type Outcome = { readonly kind: 'issued' | 'failed' | 'given-up'; readonly reason?: string } | Claim;

/** Orders certificates for hosts. A lease ensures that only one node does so for a host. */
export class Issuer {
  readonly records: AcmeRecords;
  readonly #tools: BackgroundTools;

  constructor(tools: BackgroundTools) {
    this.#tools = tools;
    this.records = new AcmeRecords(tools.store, tools.nodeId);
  }

  /** `manual`: an administrator requested it. Rejects only if the store does not respond. */
  async issue(host: string, settings: AcmeSettings, manual: boolean): Promise<Outcome> {
    const due = (cert: string): boolean => renewalTime(cert, settings.renewalThreshold) <= Date.now();
    const claim = await this.records.claim({ host, manual, due });
    if (claim.kind !== 'claimed') return claim;
    const { log, signal } = this.#tools;
    const lost = new AbortController();
    const ending = AbortSignal.any([signal, lost.signal, AbortSignal.timeout(orderTimeout)]);
    const extending = this.#keepLease(host, claim.lease, () => lost.abort());
    try {
      const issued = await this.#order(host, settings, ending);
      const saved = await this.records.save(host, claim.lease, issued);
      if (saved === 'taken') return { kind: 'taken' };
      if (saved === 'lost') return { kind: 'busy' };
      log.info('certificate issued', { host });
      return { kind: 'issued' };
    } catch (error) {
      if (signal.aborted) {
        await this.records.release(host, claim.lease, null);
        return { kind: 'given-up', reason: 'the node is about to end' };
      }
      if (lost.signal.aborted) return { kind: 'busy' };
      return this.#failed(host, settings, claim.lease, error);
    } finally {
      clearInterval(extending);
    }
  }

  /** While the store does not answer, the order continues: if another node has taken the host, `save` refuses the certificate. */
  #keepLease(host: string, lease: string, lost: () => void): NodeJS.Timeout {
    const extend = async (): Promise<void> => {
      if (!(await this.records.extend(host, lease))) lost();
    };
    return setInterval(() => void extend().catch(() => {}), extendInterval).unref();
  }

  async #failed(host: string, settings: AcmeSettings, lease: string, error: unknown): Promise<Outcome> {
    const reason = reasonOf(error);
    const retryAfter = error instanceof AcmeProblem ? (error.retryAfter ?? 0) * 1000 : 0;
    const pause = await this.records.release(host, lease, { reason, backoff: Math.max(settings.backoff, retryAfter) });
    this.#tools.log.error('certificate could not be issued', {
      host,
      reason,
      retry_in_minutes: Math.round(pause / 60_000),
    });
    return { kind: 'failed', reason };
  }

  async #order(host: string, settings: AcmeSettings, signal: AbortSignal): Promise<IssuedCertificate> {
    const server = new AcmeServer({ url: settings.directory, ca: settings.ca, signal });
    const { challengeType, keys, preferredChain } = settings;
    const publish = (challenge: PublishedChallenge): Promise<() => Promise<void>> => this.#publish(challenge, signal);
    const order = async (registerAgain: boolean): Promise<IssuedCertificate> => {
      const account = await this.#account(server, settings, registerAgain);
      return issueCertificate({ server, account, host, challengeType, keys, preferredChain, publish, signal });
    };
    try {
      return await order(false);
    } catch (error) {
      // The authority does not know the account any more: register its key again.
      if (error instanceof AcmeProblem && error.is('accountDoesNotExist')) return order(true);
      throw error;
    }
  }

  async #account(server: AcmeServer, settings: AcmeSettings, registerAgain: boolean): Promise<Signer> {
    const account = await this.records.account(settings.accountName);
    if (account.url !== null && !registerAgain) return account;
    const url = await register(server, account.key, settings.registration);
    await this.records.registered(settings.accountName, { key: account.key, url });
    return { key: account.key, url };
  }

  async #publish(challenge: PublishedChallenge, signal: AbortSignal): Promise<() => Promise<void>> {
    const unpublish = await this.records.publish(challenge);
    try {
      await wait(this.#tools.store.spread, undefined, { signal });
      return unpublish;
    } catch (error) {
      await unpublish();
      throw error;
    }
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return `not done within ${orderTimeout / 1000} s`;
  return shortText(error.message);
}
