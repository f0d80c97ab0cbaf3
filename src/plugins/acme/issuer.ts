import { setTimeout as wait } from 'node:timers/promises';
import type { BackgroundTools } from '../../plugin-sdk/index.ts';
import { AcmeProblem, shortText } from './acme-problem.ts';
import { AcmeServer, type Signer } from './acme-server.ts';
import { type IssuedCertificate, issueCertificate, register, type ShownChallenge } from './issue.ts';
import { AcmeRecords, type Claim, renewalTime } from './records.ts';
import type { AcmeSettings } from './settings.ts';

/** For one certificate from order to chain, in milliseconds; less than the lease of the host. */
const patience = 180_000;

export type Outcome = { readonly kind: 'issued' | 'failed' | 'given-up'; readonly reason?: string } | Claim;

/** Gets certificates for hosts, and sees to it that no other node does the same meanwhile. */
export class Issuer {
  readonly records: AcmeRecords;
  readonly #tools: BackgroundTools;

  constructor(tools: BackgroundTools) {
    this.#tools = tools;
    this.records = new AcmeRecords(tools.store, tools.nodeId);
  }

  /** `asked`: a person asks for it. Rejects only when the store does not answer. */
  async issue(host: string, settings: AcmeSettings, asked: boolean): Promise<Outcome> {
    const due = (cert: string): boolean => renewalTime(cert, settings.renewalThreshold) <= Date.now();
    const claim = await this.records.claim({ host, asked, due });
    if (claim.kind !== 'claimed') return claim;
    const { log, signal } = this.#tools;
    const ending = AbortSignal.any([signal, AbortSignal.timeout(patience)]);
    try {
      const issued = await this.#order(host, settings, ending);
      const saved = await this.records.save(host, claim.lease, issued);
      if (saved === 'taken') return { kind: 'taken' };
      if (saved === 'lost') return { kind: 'busy' };
      log.info('a certificate was issued', { host });
      return { kind: 'issued' };
    } catch (error) {
      if (signal.aborted) {
        await this.records.release(host, claim.lease, null);
        return { kind: 'given-up', reason: 'the node is about to end' };
      }
      return this.#failed(host, settings, claim.lease, error);
    }
  }

  async #failed(host: string, settings: AcmeSettings, lease: string, error: unknown): Promise<Outcome> {
    const reason = reasonOf(error);
    const asked = error instanceof AcmeProblem ? (error.retryAfter ?? 0) * 1000 : 0;
    const pause = await this.records.release(host, lease, { reason, backoff: Math.max(settings.backoff, asked) });
    this.#tools.log.error('no certificate could be had', {
      host,
      reason,
      retry_in_minutes: Math.round(pause / 60_000),
    });
    return { kind: 'failed', reason };
  }

  async #order(host: string, settings: AcmeSettings, signal: AbortSignal): Promise<IssuedCertificate> {
    const server = new AcmeServer({ url: settings.directory, ca: settings.ca, signal });
    const { challengeType, keys, preferredChain } = settings;
    const show = (challenge: ShownChallenge): Promise<() => Promise<void>> => this.#show(challenge, signal);
    const order = async (renew: boolean): Promise<IssuedCertificate> => {
      const account = await this.#account(server, settings, renew);
      return issueCertificate({ server, account, host, challengeType, keys, preferredChain, show, signal });
    };
    try {
      return await order(false);
    } catch (error) {
      // The authority has forgotten the account: its key gets a new one.
      if (error instanceof AcmeProblem && error.is('accountDoesNotExist')) return order(true);
      throw error;
    }
  }

  async #account(server: AcmeServer, settings: AcmeSettings, again: boolean): Promise<Signer> {
    const account = await this.records.account(settings.accountName);
    if (account.url !== null && !again) return account;
    const url = await register(server, account.key, settings.registration);
    await this.records.registered(settings.accountName, { key: account.key, url });
    return { key: account.key, url };
  }

  async #show(challenge: ShownChallenge, signal: AbortSignal): Promise<() => Promise<void>> {
    const takeBack = await this.records.show(challenge);
    try {
      await wait(this.#tools.store.spread, undefined, { signal });
      return takeBack;
    } catch (error) {
      await takeBack();
      throw error;
    }
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return `not done within ${patience / 1000} s`;
  return shortText(error.message);
}
