import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { type GatewaySubject, startGateway } from '../../support/gateway/gateway.ts';
import { measureInTurns } from '../../support/turns/measure.ts';

const counts = [1, 1_000, 10_000];

/** The cost of a request must not grow with the routes that it does not match. */
export const routes: Scenario = {
  name: 'routes',
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const gateways: GatewaySubject[] = [];
    try {
      for (const count of counts) {
        const gateway = await startGateway({
          folder: context.folder,
          workers: 1,
          name: `gateway with ${count} routes`,
        });
        gateways.push(gateway);
        const admin = new AdminClient(gateway.adminUrl);
        const begun = performance.now();
        await admin.addRoutes(context.backend.url, count);
        admin.close();
        context.say(`${count} routes written in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
      }
      return [...(await oneOfMany(context, gateways)), ...(await allOfMany(context, gateways))];
    } finally {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
    }
  },
};

async function oneOfMany(context: BenchContext, gateways: readonly GatewaySubject[]): Promise<readonly Figure[]> {
  const [one, ...more] = await measureInTurns(
    context,
    gateways.map((subject) => ({ subject, path: '/r/0' })),
  );
  return more.map((measured, index) =>
    figure({
      scenario: 'routes',
      what: `CPU per request, ${counts[index + 1]} routes`,
      unit: 'µs',
      gateway: measured.cpuPerRequest,
      peer: one?.cpuPerRequest ?? [],
      peerName: '1 route',
      maxRatio: 1.05,
    }),
  );
}

/** The same with requests over all of them: the processor's caches have their part in this one. */
async function allOfMany(context: BenchContext, gateways: readonly GatewaySubject[]): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const [index, subject] of gateways.entries()) {
    if (index === 0) continue;
    const count = counts[index] as number;
    const [fixed, spread] = await measureInTurns(context, [
      { subject, path: '/r/0' },
      { subject, path: '/', load: { script: 'spread.lua', args: [String(count)] } },
    ]);
    figures.push(
      figure({
        scenario: 'routes',
        what: `CPU per request over all ${count} routes`,
        unit: 'µs',
        gateway: spread?.cpuPerRequest ?? [],
        peer: fixed?.cpuPerRequest ?? [],
        peerName: 'one of them',
      }),
    );
  }
  return figures;
}
