import { join } from 'node:path';
import { AdminClient } from '../support/admin-client.ts';
import type { BenchContext, Scenario } from '../support/context.ts';
import { type Figure, figure, median } from '../support/figures.ts';
import { startFloor } from '../support/floor.ts';
import { startGateway } from '../support/gateway.ts';
import { http2Load } from '../support/h2load.ts';
import { cpuMicroseconds } from '../support/process-figures.ts';
import { makeCertificate, startSecurePeer } from '../support/secure-peer.ts';
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
    const floor = await startFloor('http2', cert, key);
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
          what: 'CPU per request, compared with node:http2 that answers by itself',
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
