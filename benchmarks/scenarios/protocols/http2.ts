import { join } from 'node:path';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { http2Load } from '../../support/generators/h2load.ts';
import { cpuMicroseconds } from '../../support/machine/process-figures.ts';
import { BenchError, findTool } from '../../support/machine/tools.ts';
import { startFloor } from '../../support/peers/floor.ts';
import { makeCertificate, startSecurePeer } from '../../support/peers/secure-peer.ts';
import type { Subject } from '../../support/subject.ts';
import { inTurns } from '../../support/turns/rounds.ts';

const scenario = 'http2';
const several = { connections: 16, streams: 8 };
const single = { connections: 1, streams: 100 };

/** The plain scenario over HTTP/2 and TLS: 16 connections with 8 streams each, and one connection with 100. */
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
    const floor = await startFloor('http2', cert, key);
    try {
      await admin.addRoutes(context.backend.url, 1);
      const subjects = [peer, gateway, floor];
      const [ofPeer = [], ours = [], ofFloor = [], peerAlone = [], oursAlone = []] = await inTurns(context, [
        ...subjects.map((subject) => (seconds: number) => measure(h2load, subject, seconds, several)),
        ...[peer, gateway].map((subject) => (seconds: number) => measure(h2load, subject, seconds, single)),
      ]);
      return [
        figure({ scenario, what: 'CPU per request', unit: 'µs', gateway: cpu(ours), peer: cpu(ofPeer), maxRatio: 1.8 }),
        figure({ scenario, what: 'requests per second', unit: '/s', gateway: rate(ours), peer: rate(ofPeer) }),
        figure({
          scenario,
          what: 'CPU per request, compared with node:http2 that answers by itself',
          unit: 'µs',
          gateway: cpu(ours),
          peer: cpu(ofFloor),
          peerName: 'node:http2',
        }),
        figure({
          scenario,
          what: 'CPU per request, 100 streams on one connection',
          unit: 'µs',
          gateway: cpu(oursAlone),
          peer: cpu(peerAlone),
          maxRatio: 1.8,
        }),
      ];
    } finally {
      admin.close();
      await Promise.all([gateway.stop(), peer.stop(), floor.stop()]);
    }
  },
};

interface Once {
  readonly cpuPerRequest: number;
  readonly requestsPerSecond: number;
}

const cpu = (rounds: readonly Once[]): readonly number[] => rounds.map((once) => once.cpuPerRequest);
const rate = (rounds: readonly Once[]): readonly number[] => rounds.map((once) => once.requestsPerSecond);

async function measure(
  h2load: string,
  subject: Subject,
  seconds: number,
  load: { readonly connections: number; readonly streams: number },
): Promise<Once> {
  const pids = subject.pids();
  const before = cpuMicroseconds(pids);
  const figures = await http2Load(h2load, { url: `https://127.0.0.1:${subject.port}/r/0`, seconds, ...load });
  const used = cpuMicroseconds(pids) - before;
  if (figures.failed > 0)
    throw new BenchError(`${subject.name} failed ${figures.failed} of ${figures.requests} requests`);
  return { cpuPerRequest: used / figures.requests, requestsPerSecond: figures.requests / figures.seconds };
}
