import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { KeyKind } from './certificates.ts';
import { domainMatcher } from './domains.ts';
import type { ChallengeType, Registration } from './issue.ts';
import type { AcmeConfig } from './schema.ts';

/** The configuration of an instance in the form that the background task uses. */
export interface AcmeSettings {
  readonly directory: string;
  /** Name of the account in the store: another authority, address or binding means another account. */
  readonly accountName: string;
  readonly registration: Registration;
  readonly keys: KeyKind;
  readonly challengeType: ChallengeType;
  readonly preferredChain: string | null;
  /** Milliseconds. */
  readonly renewalThreshold: number;
  readonly backoff: number;
  readonly allows: (host: string) => boolean;
  /** PEM of the trusted certificate authorities; null: the built-in ones. */
  readonly ca: string | null;
}

const defaultDirectory = 'https://acme-v02.api.letsencrypt.org/directory';
const minute = 60_000;
const day = 24 * 60 * minute;

/** Throws if the file of trusted certificates cannot be read. */
export function settingsOf(config: AcmeConfig, trustedCertificates: string | null): AcmeSettings {
  const { account_email: email, eab_kid: kid, eab_hmac_key: hmacKey } = config;
  const directory = config.api_uri ?? defaultDirectory;
  const binding = kid === null || hmacKey === null ? null : { kid, hmacKey };
  const identity = JSON.stringify([directory, email, kid]);
  return {
    directory,
    accountName: createHash('sha256').update(identity).digest('hex').slice(0, 32),
    registration: { email, termsAgreed: config.tos_accepted === true, binding },
    keys: { type: config.cert_type === 'ecc' ? 'ecc' : 'rsa', rsaBits: config.rsa_key_size ?? 4096 },
    challengeType: config.challenge_type === 'tls-alpn-01' ? 'tls-alpn-01' : 'http-01',
    preferredChain: config.preferred_chain,
    renewalThreshold: (config.renew_threshold_days ?? 14) * day,
    backoff: (config.fail_backoff_minutes ?? 5) * minute,
    allows: domainMatcher(config),
    ca: trustedCertificates === null ? null : readFileSync(trustedCertificates, 'utf8'),
  };
}
