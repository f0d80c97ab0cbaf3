import type { SecureContext } from 'node:tls';
import { runCertificate } from '../plugin-runner/run-certificate.ts';
import type { RuntimeSnapshot } from '../snapshot/runtime.ts';

/**
 * The certificate for a TLS client that asks for this name: a plugin's, or else the one that an SNI entity names; null:
 * the listener's own. `ecdsa`: whether the client accepts one with an EC key. Throws for a challenge (`acme-tls/1`) that no plugin answers.
 */
export function handshakeContext(
  snapshot: RuntimeSnapshot,
  name: string,
  challenge: boolean,
  ecdsa: () => boolean,
  clientIp: string,
): SecureContext | null | Promise<SecureContext | null> {
  const certificate = snapshot.certificateFor(name);
  const { certificate: instances } = snapshot.globalPlan;
  const given =
    instances.length === 0
      ? null
      : runCertificate(instances, {
          serverName: plain(name),
          hasCertificate: certificate !== null,
          challenge,
          clientIp,
        });
  const choose = (context: SecureContext | null): SecureContext | null => {
    if (context !== null) return context;
    if (challenge) throw new Error('nobody answers the challenge');
    return certificate?.secureContext(ecdsa) ?? null;
  };
  return given instanceof Promise ? given.then(choose) : choose(given);
}

function plain(name: string): string {
  const lower = name.toLowerCase();
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}
