import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { freePort } from '../../support/machine/free-port.ts';
import { cpuMicroseconds } from '../../support/machine/process-figures.ts';
import { BenchError, findTool } from '../../support/machine/tools.ts';
import { proxyServer, startNginx } from '../../support/peers/nginx.ts';
import { makeCertificate, secureVersions } from '../../support/peers/secure-peer.ts';
import type { Subject } from '../../support/subject.ts';
import { inTurns } from '../../support/turns/rounds.ts';

const scenario = 'http2-upload';
const megabytes = 100;
/** Seconds for one upload. */
const patience = 60;

/** One upload of 100 MB over HTTP/2, without TLS and with it. Each round has one. */
export const http2Upload: Scenario = {
  name: scenario,
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const curl = findTool('curl', ['--version']);
    const folder = join(context.folder, scenario);
    const { cert, key } = makeCertificate(folder);
    const body = join(folder, 'body');
    writeFileSync(body, '');
    truncateSync(body, megabytes * 2 ** 20);
    const backend = await startSink();
    const peer = await startPeer(context, folder, backend.port, cert, key);
    const tlsPort = await freePort();
    const gateway = await startGateway({
      folder,
      workers: 1,
      env: {
        KONG_PROXY_LISTEN: `127.0.0.1:0 http2 backlog=4096, 127.0.0.1:${tlsPort} ssl http2 backlog=4096`,
        KONG_SSL_CERT: cert,
        KONG_SSL_CERT_KEY: key,
      },
    });
    const admin = new AdminClient(gateway.adminUrl);
    try {
      await admin.write('PUT', '/services/sink', { url: `http://127.0.0.1:${backend.port}` });
      await admin.write('PUT', '/services/sink/routes/sink', { paths: ['/'], strip_path: false });
      const plain = [`http://127.0.0.1:${peer.h2cPort}`, `http://127.0.0.1:${gateway.port}`];
      const secure = [peer.url, `https://127.0.0.1:${tlsPort}`];
      const subjects = [peer, gateway];
      const [peerPlain = [], oursPlain = [], peerSecure = [], oursSecure = []] = await inTurns(
        context,
        [...plain, ...secure].map((url, at) => () => upload(curl, subjects[at % 2] as Subject, url, body)),
      );
      return [...rows('without TLS', oursPlain, peerPlain), ...rows('over TLS', oursSecure, peerSecure)];
    } finally {
      admin.close();
      await Promise.all([gateway.stop(), peer.stop(), backend.stop()]);
    }
  },
};

function rows(how: string, ours: readonly Upload[], peer: readonly Upload[]): readonly Figure[] {
  return [
    figure({
      scenario,
      what: `${megabytes} MB ${how}`,
      unit: 's',
      gateway: ours.map(({ seconds }) => seconds),
      peer: peer.map(({ seconds }) => seconds),
      maxRatio: 1.3,
    }),
    figure({
      scenario,
      what: `CPU per MB ${how}`,
      unit: 'µs',
      gateway: ours.map(({ cpuPerMegabyte }) => cpuPerMegabyte),
      peer: peer.map(({ cpuPerMegabyte }) => cpuPerMegabyte),
      maxRatio: 1.3,
    }),
  ];
}

interface Upload {
  readonly seconds: number;
  readonly cpuPerMegabyte: number;
}

async function upload(curl: string, subject: Subject, url: string, body: string): Promise<Upload> {
  const pids = subject.pids();
  const before = cpuMicroseconds(pids);
  const how = url.startsWith('https:') ? ['--http2', '--insecure'] : ['--http2-prior-knowledge'];
  const words = ['-sS', '-o', '/dev/null', '-m', String(patience), '-X', 'POST', '-T', body, '-H', 'Expect:'];
  const written = ['-w', '%{http_version} %{http_code} %{size_upload} %{time_total}'];
  const child = spawn(curl, [...words, ...how, ...written, `${url}/upload`], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await once(child, 'close');
  const [version, status, bytes, seconds] = output.split(' ');
  if (version !== '2' || status !== '200' || Number(bytes) !== megabytes * 2 ** 20)
    throw new BenchError(`${subject.name} failed an upload: ${output}`);
  return { seconds: Number(seconds), cpuPerMegabyte: (cpuMicroseconds(pids) - before) / megabytes };
}

interface Sink {
  readonly port: number;
  stop(): Promise<void>;
}

/** Reads bodies whole and drops them, then answers. */
async function startSink(): Promise<Sink> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** The peer of every scenario with HTTP/2 before it, over TLS (`url`) and without (`h2cPort`). */
async function startPeer(
  context: BenchContext,
  folder: string,
  backendPort: number,
  cert: string,
  key: string,
): Promise<Subject & { readonly h2cPort: number }> {
  const root = join(folder, 'peer');
  mkdirSync(root, { recursive: true });
  const [h2cPort, tlsPort] = [await freePort(), await freePort()];
  const certificate = `ssl_certificate ${cert}; ssl_certificate_key ${key};`;
  const secure = `listen 127.0.0.1:${tlsPort} ssl http2; ${secureVersions} ${certificate}`;
  const peer = await startNginx(context.tools.nginx, root, 'nginx', (port) =>
    proxyServer(backendPort, `listen 127.0.0.1:${port}; listen 127.0.0.1:${h2cPort} http2; ${secure}`),
  );
  return { ...peer, port: tlsPort, url: `https://127.0.0.1:${tlsPort}`, h2cPort };
}
