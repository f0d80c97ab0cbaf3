import { join } from 'node:path';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { nodeLoad } from '../../support/generators/node-load.ts';
import { cpuMicroseconds } from '../../support/machine/process-figures.ts';
import { BenchError } from '../../support/machine/tools.ts';
import { startFloor } from '../../support/peers/floor.ts';
import { makeCertificate, startSecurePeer } from '../../support/peers/secure-peer.ts';
import type { Subject } from '../../support/subject.ts';
import { type Contender, type Measured, measureInTurns } from '../../support/turns/measure.ts';
import { inTurns } from '../../support/turns/rounds.ts';

const scenario = 'tls';
/** Every request opens a connection of its own. */
const closing: Contender['load'] = { script: 'header.lua', args: ['Connection', 'close'] };

/** The plain scenario over HTTP/1.1 and TLS 1.3: on kept connections, and with a handshake for each request, full or resumed. */
export const tls: Scenario = {
  name: scenario,
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const folder = join(context.folder, scenario);
    const { cert, key } = makeCertificate(folder);
    const gateway = await startGateway({
      folder,
      workers: 1,
      env: { KONG_PROXY_LISTEN: '127.0.0.1:0 ssl backlog=4096', KONG_SSL_CERT: cert, KONG_SSL_CERT_KEY: key },
    });
    const secure = { ...gateway, url: `https://127.0.0.1:${gateway.port}` };
    const admin = new AdminClient(gateway.adminUrl);
    const peer = await startSecurePeer(context, folder, cert, key);
    const floor = await startFloor('tls', cert, key);
    try {
      await admin.addRoutes(context.backend.url, 1);
      const [kept, ours, handshake, oursAnew, least] = await measureInTurns(context, [
        { subject: peer, path: '/r/0' },
        { subject: secure, path: '/r/0' },
        { subject: peer, path: '/r/0', load: closing },
        { subject: secure, path: '/r/0', load: closing },
        { subject: floor, path: '/r/0', load: closing },
      ]);
      const [resumed = [], oursResumed = [], leastResumed = []] = await inTurns(
        context,
        [peer, secure, floor].map((subject) => (seconds: number) => resume(subject, seconds)),
      );
      const common = { scenario, unit: 'µs' };
      return [
        figure({
          ...common,
          what: 'CPU per request, kept connections',
          gateway: costOf(ours),
          peer: costOf(kept),
          maxRatio: 1.45,
        }),
        figure({
          ...common,
          what: 'CPU per request, a full handshake each',
          gateway: costOf(oursAnew),
          peer: costOf(handshake),
          maxRatio: 3.2,
        }),
        figure({
          ...common,
          what: 'the same, compared with node:tls that answers by itself',
          gateway: costOf(oursAnew),
          peer: costOf(least),
          peerName: 'node:tls',
        }),
        figure({
          ...common,
          what: 'CPU per request, a resumed handshake each',
          gateway: oursResumed,
          peer: resumed,
          maxRatio: 2,
        }),
        figure({
          ...common,
          what: 'a resumed handshake each, compared with node:tls that answers by itself',
          gateway: oursResumed,
          peer: leastResumed,
          peerName: 'node:tls',
        }),
      ];
    } finally {
      admin.close();
      await Promise.all([gateway.stop(), peer.stop(), floor.stop()]);
    }
  },
};

function costOf(measured: Measured | undefined): readonly number[] {
  return measured?.cpuPerRequest ?? [];
}

/** CPU microseconds of a request on a connection of its own that resumes a session. */
async function resume(subject: Subject, seconds: number): Promise<number> {
  const clients = 16;
  const pids = subject.pids();
  const before = cpuMicroseconds(pids);
  const { requests, failed, full } = await nodeLoad<{
    readonly requests: number;
    readonly failed: number;
    readonly full: number;
  }>('resumed.ts', [subject.port, '/r/0', seconds, clients]);
  if (failed > 0) throw new BenchError(`${subject.name} failed ${failed} of ${requests} requests`);
  // The first of each client has nothing to resume.
  if (full > clients) throw new BenchError(`${subject.name} resumed only ${requests - full} of ${requests} sessions`);
  return (cpuMicroseconds(pids) - before) / requests;
}
