import { AdminClient } from '../support/admin-client.ts';
import type { BenchContext, Scenario } from '../support/context.ts';
import { type Figure, figure } from '../support/figures.ts';
import { startGateway } from '../support/gateway.ts';
import { measureInTurns } from '../support/measure.ts';

/** One route, one service, 234-byte answers, 64 kept connections. */
export const plain: Scenario = {
  name: 'plain',
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const gateway = await startGateway({ folder: context.folder, workers: 1 });
    const admin = new AdminClient(gateway.adminUrl);
    try {
      await admin.addRoutes(context.backend.url, 1);
      const [peer, ours] = await measureInTurns(context, [
        { subject: context.peer, path: '/r/0' },
        { subject: gateway, path: '/r/0' },
      ]);
      if (peer === undefined || ours === undefined) return [];
      const scenario = 'plain';
      return [
        figure({
          scenario,
          what: 'CPU per request',
          unit: 'µs',
          gateway: ours.cpuPerRequest,
          peer: peer.cpuPerRequest,
          maxRatio: 1.6,
        }),
        figure({
          scenario,
          what: 'requests per second',
          unit: '/s',
          gateway: ours.requestsPerSecond,
          peer: peer.requestsPerSecond,
        }),
        figure({ scenario, what: 'latency p99 under full load', unit: 'ms', gateway: ours.p99, peer: peer.p99 }),
      ];
    } finally {
      admin.close();
      await gateway.stop();
    }
  },
};
