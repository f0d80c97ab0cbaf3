import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CertificateAndKey, selfSignedCertificate } from '../../shared/tls/self-signed.ts';
import { withFile } from '../../shared/util/files/file-error.ts';

const validDays = 3650;
/** A certificate that expires within this many days is replaced at the next start. */
const renewDays = 30;
const day = 86_400_000;

/**
 * The certificate of listeners for which none is configured: self-signed, created at the first start and stored in the
 * prefix (`ssl/`), where only its owner can read the key.
 */
export function defaultCertificate(prefix: string): CertificateAndKey {
  const folder = join(prefix, 'ssl');
  const certPath = join(folder, 'default.crt');
  const keyPath = join(folder, 'default.key');
  const stored = readStored(certPath, keyPath);
  if (stored !== null) return stored;
  const made = selfSignedCertificate(validDays);
  withFile('cannot create the directory', folder, () => mkdirSync(folder, { recursive: true, mode: 0o700 }));
  writeAtomically(keyPath, made.key);
  writeAtomically(certPath, made.cert);
  return made;
}

/** Null: there is no certificate, or it is not usable any more. */
function readStored(certPath: string, keyPath: string): CertificateAndKey | null {
  try {
    const cert = readFileSync(certPath, 'utf8');
    const key = readFileSync(keyPath, 'utf8');
    const parsed = new X509Certificate(cert);
    const fits = parsed.checkPrivateKey(createPrivateKey(key));
    return fits && Date.parse(parsed.validTo) > Date.now() + renewDays * day ? { cert, key } : null;
  } catch {
    return null;
  }
}

/** A reader sees the old file or the new one, never a part. */
function writeAtomically(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  withFile('cannot write the certificate of the listeners', path, () => {
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, path);
  });
}
