import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A self-signed certificate for a name, and its key (default: EC), as PEM texts. */
export function selfSigned(name: string, type: 'ec' | 'rsa' = 'ec'): { readonly cert: string; readonly key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-certificate-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const curve =
    type === 'rsa'
      ? ['-newkey', 'rsa:2048', '-nodes']
      : ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  execFileSync('openssl', ['req', '-x509', ...curve, '-days', '2', ...names, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  const pair = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  rmSync(folder, { recursive: true });
  return pair;
}
