import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext } from '../context.ts';
import { freePort } from '../machine/free-port.ts';
import type { Subject } from '../subject.ts';
import { proxyServer, startNginx } from './nginx.ts';

/** A self-signed certificate (EC, P-256) and its key, as files. */
export function makeCertificate(folder: string): { readonly cert: string; readonly key: string } {
  mkdirSync(folder, { recursive: true });
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...curve, '-subj', '/CN=localhost', '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  return { cert, key };
}

/** Those that the gateway speaks by default. nginx before 1.23.4 speaks at most TLS 1.2 by default, which is less work. */
export const secureVersions = 'ssl_protocols TLSv1.2 TLSv1.3;';

/** The peer of every scenario, with HTTP/1.1 and HTTP/2 over TLS before it. */
export async function startSecurePeer(
  context: BenchContext,
  folder: string,
  cert: string,
  key: string,
): Promise<Subject> {
  const root = join(folder, 'peer');
  mkdirSync(root, { recursive: true });
  const tlsPort = await freePort();
  const secure =
    `listen 127.0.0.1:${tlsPort} ssl http2 backlog=4096; ${secureVersions} ` +
    `ssl_certificate ${cert}; ssl_certificate_key ${key};`;
  const peer = await startNginx(context.tools.nginx, root, 'nginx', (port) =>
    proxyServer(context.backend.port, `listen 127.0.0.1:${port} backlog=4096; ${secure}`),
  );
  return { ...peer, port: tlsPort, url: `https://127.0.0.1:${tlsPort}` };
}
