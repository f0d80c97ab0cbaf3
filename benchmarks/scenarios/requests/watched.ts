import { setTimeout as delay } from 'node:timers/promises';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { openEventStream } from '../../support/gateway/event-stream.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { type Contender, measureInTurns } from '../../support/turns/measure.ts';

const scenario = 'watched';
/** Milliseconds in which workers stop recording. */
const settleTime = 500;

/** What somebody may look at, and by how much the throughput may drop: a part of it. */
const views = [
  { what: 'with GET /overview/live open', path: '/overview/live', drop: 0.02 },
  { what: 'with GET /traffic/live open', path: '/traffic/live', drop: 0.05 },
  { what: 'with GET /traffic/live?bodies=4096 open', path: '/traffic/live?bodies=4096', drop: 0.05 },
] as const;

/** What it costs the requests of a fully loaded worker that somebody looks: one gateway, with and without viewers in turns. */
export const watched: Scenario = {
  name: scenario,
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const gateway = await startGateway({ folder: context.folder, workers: 1 });
    const admin = new AdminClient(gateway.adminUrl);
    try {
      await admin.addRoutes(context.backend.url, 1);
      await admin.write('POST', '/routes/route-0/plugins', { name: 'cors' });
      const unwatched: Contender = { subject: gateway, path: '/r/0' };
      const [peer, ...watching] = await measureInTurns(context, [
        unwatched,
        ...views.map(({ path }) => ({ ...unwatched, meanwhile: () => view(context, gateway.adminUrl + path) })),
      ]);
      const time = (rates: readonly number[] = []): readonly number[] => rates.map((rate) => 1e6 / rate);
      return views.map(({ what, drop }, at) =>
        figure({
          scenario,
          what: `time per request at full load, ${what}`,
          unit: 'µs',
          gateway: time(watching[at]?.requestsPerSecond),
          peer: time(peer?.requestsPerSecond),
          peerName: 'nobody looks',
          maxRatio: Math.round(1_000 / (1 - drop)) / 1_000,
        }),
      );
    } finally {
      admin.close();
      await gateway.stop();
    }
  },
};

async function view({ say }: BenchContext, url: string): Promise<() => Promise<void>> {
  const close = await openEventStream(url);
  return async () => {
    say(`${new URL(url).pathname}: ${close()} bytes of events`);
    await delay(settleTime);
  };
}
