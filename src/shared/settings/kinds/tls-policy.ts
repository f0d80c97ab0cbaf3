import type { SecureVersion } from 'node:tls';

/** The TLS options for clients: `ssl_cipher_suite` and the related settings. */
export interface ServerPolicy {
  readonly minVersion: SecureVersion;
  readonly maxVersion: SecureVersion;
  /** OpenSSL's list for TLS up to 1.2; null: OpenSSL's own. */
  readonly ciphers: string | null;
  readonly preferServerCiphers: boolean;
  readonly sessionTickets: boolean;
  /** Milliseconds that a session can be resumed. */
  readonly sessionTimeout: number;
}

export type CipherSuite = 'modern' | 'intermediate' | 'old' | 'fips' | 'custom';

const forwardSecret = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
];
const chacha = ['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'];
const finiteField = ['DHE-RSA-AES128-GCM-SHA256', 'DHE-RSA-AES256-GCM-SHA384'];
const outdated = [
  'DHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-SHA256',
  'ECDHE-RSA-AES128-SHA256',
  'ECDHE-ECDSA-AES128-SHA',
  'ECDHE-RSA-AES128-SHA',
  'ECDHE-ECDSA-AES256-SHA384',
  'ECDHE-RSA-AES256-SHA384',
  'ECDHE-ECDSA-AES256-SHA',
  'ECDHE-RSA-AES256-SHA',
  'DHE-RSA-AES128-SHA256',
  'DHE-RSA-AES256-SHA256',
  'AES128-GCM-SHA256',
  'AES256-GCM-SHA384',
  'AES128-SHA256',
  'AES256-SHA256',
  'AES128-SHA',
  'AES256-SHA',
];

interface Suite {
  readonly minVersion: SecureVersion;
  readonly ciphers: string | null;
  /** Null: the value of the setting. */
  readonly preferServerCiphers: boolean | null;
}

/** Mozilla's recommendations for servers, version 5.7, under Kong's names. */
const suites: Readonly<Record<Exclude<CipherSuite, 'custom'>, Suite>> = {
  modern: { minVersion: 'TLSv1.3', ciphers: null, preferServerCiphers: false },
  intermediate: {
    minVersion: 'TLSv1.2',
    ciphers: [...forwardSecret, ...chacha, ...finiteField].join(':'),
    preferServerCiphers: false,
  },
  // OpenSSL 3 supports TLS before 1.2 only on its lowest security level.
  old: {
    minVersion: 'TLSv1',
    ciphers: `${[...forwardSecret, ...chacha, ...finiteField, ...outdated].join(':')}:@SECLEVEL=0`,
    preferServerCiphers: true,
  },
  fips: {
    minVersion: 'TLSv1.2',
    ciphers: [...forwardSecret, ...finiteField].join(':'),
    preferServerCiphers: true,
  },
};

export interface PolicySettings {
  readonly suite: CipherSuite;
  /** For `custom`; null: OpenSSL's own. */
  readonly ciphers: string | null;
  /** For `custom`. At least one. */
  readonly protocols: readonly SecureVersion[];
  readonly preferServerCiphers: boolean;
  readonly sessionTickets: boolean;
  readonly sessionTimeout: number;
}

export function serverPolicy(settings: PolicySettings): ServerPolicy {
  const { suite, sessionTickets, sessionTimeout } = settings;
  if (suite !== 'custom') {
    const { minVersion, ciphers, preferServerCiphers } = suites[suite];
    return {
      minVersion,
      maxVersion: 'TLSv1.3',
      ciphers,
      preferServerCiphers: preferServerCiphers ?? settings.preferServerCiphers,
      sessionTickets,
      sessionTimeout,
    };
  }
  const versions = allVersions.filter((version) => settings.protocols.includes(version));
  const first = versions[0] ?? 'TLSv1.2';
  const old = first === 'TLSv1' || first === 'TLSv1.1';
  const ciphers = old ? `${settings.ciphers ?? 'DEFAULT'}:@SECLEVEL=0` : settings.ciphers;
  return {
    minVersion: first,
    maxVersion: versions.at(-1) ?? 'TLSv1.3',
    ciphers,
    preferServerCiphers: settings.preferServerCiphers,
    sessionTickets,
    sessionTimeout,
  };
}

export const allVersions: readonly SecureVersion[] = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'];
