import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext } from './context.ts';
import { freePort } from './free-port.ts';
import { startNginx } from './nginx.ts';
import type { Subject } from './subject.ts';

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
  const peer = await startNginx(
    context.tools.nginx,
    root,
    'nginx',
    (port) => `
    upstream backend {
      server 127.0.0.1:${context.backend.port};
      keepalive 512;
      keepalive_requests 1000000;
    }
    server {
      listen 127.0.0.1:${port} backlog=4096;
      listen 127.0.0.1:${tlsPort} ssl http2 backlog=4096;
      ssl_certificate ${cert};
      ssl_certificate_key ${key};
      location / {
        proxy_pass http://backend;
        proxy_http_version 1.1;
        proxy_request_buffering off;
        proxy_set_header Host $proxy_host;
        proxy_set_header Connection "";
        proxy_set_header X-Real-IP $remote_addr;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_set_header X-Forwarded-Host $host;
        proxy_set_header X-Forwarded-Port $server_port;
        proxy_set_header X-Request-Id $request_id;
        add_header X-Request-Id $request_id always;
        add_header Via "1.1 nginx" always;
      }
    }`,
  );
  return { ...peer, port: tlsPort, url: `https://127.0.0.1:${tlsPort}` };
}
