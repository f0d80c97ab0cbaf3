import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { type Contender, measureInTurns } from '../../support/turns/measure.ts';

const scenario = 'plain';
/** Every request opens a connection of its own. */
const closing: Contender['load'] = { script: 'header.lua', args: ['Connection', 'close'] };

/** One route, one service, 234-byte answers: on 64 kept connections, and with a connection for each request. */
export const plain: Scenario = {
  name: scenario,
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const gateway = await startGateway({ folder: context.folder, workers: 1 });
    const admin = new AdminClient(gateway.adminUrl);
    try {
      await admin.addRoutes(context.backend.url, 1);
      const path = '/r/0';
      const [peer, bare, haproxy, ours, peerClosing, oursClosing] = await measureInTurns(context, [
        { subject: context.peer, path },
        { subject: context.barePeer, path },
        { subject: context.haproxy, path },
        { subject: gateway, path },
        { subject: context.peer, path, load: closing },
        { subject: gateway, path, load: closing },
      ]);
      const cpu = { scenario, unit: 'µs', gateway: ours?.cpuPerRequest ?? [] };
      return [
        figure({ ...cpu, what: 'CPU per request', peer: peer?.cpuPerRequest ?? [], maxRatio: 1.3 }),
        figure({
          ...cpu,
          what: 'the same, compared with nginx that sets two headers',
          peer: bare?.cpuPerRequest ?? [],
          peerName: 'bare nginx',
        }),
        figure({
          ...cpu,
          what: 'the same, compared with HAProxy',
          peer: haproxy?.cpuPerRequest ?? [],
          peerName: 'haproxy',
        }),
        figure({
          scenario,
          what: 'requests per second',
          unit: '/s',
          gateway: ours?.requestsPerSecond ?? [],
          peer: peer?.requestsPerSecond ?? [],
        }),
        figure({
          scenario,
          what: 'latency p99 under full load',
          unit: 'ms',
          gateway: ours?.p99 ?? [],
          peer: peer?.p99 ?? [],
        }),
        figure({
          ...cpu,
          what: 'CPU per request, a new connection each',
          gateway: oursClosing?.cpuPerRequest ?? [],
          peer: peerClosing?.cpuPerRequest ?? [],
        }),
      ];
    } finally {
      admin.close();
      await gateway.stop();
    }
  },
};
