import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AdminClient } from '../support/admin-client.ts';
import type { BenchContext, Scenario } from '../support/context.ts';
import { type Figure, figure, median } from '../support/figures.ts';
import { freePort } from '../support/free-port.ts';
import { startGateway } from '../support/gateway.ts';
import { http2Load } from '../support/h2load.ts';
import { startNginx, stopProcess } from '../support/nginx.ts';
import { cpuMicroseconds } from '../support/process-figures.ts';
import type { Subject } from '../support/subject.ts';
import { BenchError, findTool } from '../support/tools.ts';

const scenario = 'http2';
const connections = 16;
const streams = 8;

/** The plain scenario over HTTP/2 and TLS: 16 connections with 8 streams each. */
export const http2: Scenario = {
  name: scenario,
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const h2load = findTool('h2load', ['--version'], 'nghttp2-client');
    const folder = join(context.folder, scenario);
    const { cert, key } = makeCertificate(folder);
    const gateway = await startGateway({
      folder,
      workers: 1,
      env: {
        KONG_PROXY_LISTEN: '127.0.0.1:0 ssl http2 backlog=4096',
        KONG_SSL_CERT: cert,
        KONG_SSL_CERT_KEY: key,
      },
    });
    const admin = new AdminClient(gateway.adminUrl);
    const peer = await startSecurePeer(context, folder, cert, key);
    const floor = await startFloor(cert, key);
    try {
      await admin.addRoutes(context.backend.url, 1);
      const subjects = [peer, gateway, floor];
      const measured = subjects.map(() => ({ cpu: [] as number[], rate: [] as number[] }));
      for (let round = 0; round <= context.rounds; round++) {
        for (const [at, subject] of subjects.entries()) {
          const once = await measure(h2load, subject, round === 0 ? Math.min(3, context.seconds) : context.seconds);
          if (round === 0) continue;
          measured[at]?.cpu.push(once.cpuPerRequest);
          measured[at]?.rate.push(once.requestsPerSecond);
        }
      }
      const [ofPeer, ours, ofFloor] = measured.map(({ cpu, rate }) => ({ cpu: median(cpu), rate: median(rate) }));
      if (ofPeer === undefined || ours === undefined || ofFloor === undefined) return [];
      return [
        figure({ scenario, what: 'CPU per request', unit: 'µs', gateway: ours.cpu, peer: ofPeer.cpu, maxRatio: 3 }),
        figure({ scenario, what: 'requests per second', unit: '/s', gateway: ours.rate, peer: ofPeer.rate }),
        figure({
          scenario,
          what: 'CPU per request beside node:http2 that answers by itself',
          unit: 'µs',
          gateway: ours.cpu,
          peer: ofFloor.cpu,
          peerName: 'node:http2',
        }),
      ];
    } finally {
      admin.close();
      await Promise.all([gateway.stop(), peer.stop(), floor.stop()]);
    }
  },
};

async function measure(
  h2load: string,
  subject: Subject,
  seconds: number,
): Promise<{ readonly cpuPerRequest: number; readonly requestsPerSecond: number }> {
  const pids = subject.pids();
  const before = cpuMicroseconds(pids);
  const figures = await http2Load(h2load, {
    url: `https://127.0.0.1:${subject.port}/r/0`,
    seconds,
    connections,
    streams,
  });
  const used = cpuMicroseconds(pids) - before;
  if (figures.failed > 0)
    throw new BenchError(`${subject.name} failed ${figures.failed} of ${figures.requests} requests`);
  return { cpuPerRequest: used / figures.requests, requestsPerSecond: figures.requests / figures.seconds };
}

function makeCertificate(folder: string): { readonly cert: string; readonly key: string } {
  mkdirSync(folder, { recursive: true });
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...curve, '-subj', '/CN=localhost', '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  return { cert, key };
}

/** The peer of every scenario, with HTTP/2 over TLS before it. */
async function startSecurePeer(context: BenchContext, folder: string, cert: string, key: string): Promise<Subject> {
  const root = join(folder, 'peer');
  mkdirSync(root, { recursive: true });
  const tlsPort = await freePort();
  const peer = await startNginx(
    context.tools.nginx,
    root,
    'nginx with HTTP/2',
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

async function startFloor(cert: string, key: string): Promise<Subject> {
  const script = join(import.meta.dirname, '..', 'load', 'http2-floor.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, cert, key], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.once('data', (line: Buffer) => resolve(Number(line.toString())));
    child.once('exit', (code) => reject(new BenchError(`the floor ended with ${code} instead of starting`)));
  });
  return {
    name: 'node:http2',
    port,
    url: `https://127.0.0.1:${port}`,
    pids: () => [child.pid as number],
    stop: () => stopProcess(child),
  };
}
