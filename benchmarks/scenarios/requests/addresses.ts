import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { load } from '../../support/generators/wrk.ts';
import { memoryOf } from '../../support/machine/process-figures.ts';
import { measureInTurns } from '../../support/turns/measure.ts';

const few = 1_000;
const many = 1_000_000;

/** A rate for each client address, in a zone of 64 MB: the number of addresses must not matter. */
export const addresses: Scenario = {
  name: 'addresses',
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const env = { KONG_TRUSTED_IPS: '127.0.0.1', KONG_REAL_IP_HEADER: 'X-Forwarded-For' };
    const gateway = await startGateway({ folder: context.folder, workers: 1, env });
    const admin = new AdminClient(gateway.adminUrl);
    try {
      await admin.addRoutes(context.backend.url, 1);
      const config = { rate: '1000000r/s', burst: 1000, nodelay: true, zone_size: '64m' };
      await admin.write('POST', '/routes/route-0/plugins', { name: 'rate-limiting', config });
      const from = (count: number) => ({ script: 'addresses.lua', args: [String(count)] });
      await showAll(context, gateway.url, 0);
      const [less, more] = await measureInTurns(context, [
        { subject: gateway, path: '/r/0', load: from(few) },
        { subject: gateway, path: '/r/0', load: from(many) },
      ]);
      await showAll(context, gateway.url, many);
      const before = memoryOf(gateway.pids()).resident;
      await showAll(context, gateway.url, 2 * many);
      const grown = (memoryOf(gateway.pids()).resident - before) / 2 ** 20;
      if (less === undefined || more === undefined) return [];
      const scenario = 'addresses';
      return [
        figure({
          scenario,
          what: 'CPU per request, 1000000 addresses in 64m',
          unit: 'µs',
          gateway: more.cpuPerRequest,
          peer: less.cpuPerRequest,
          peerName: '1000 addresses',
          maxRatio: 1.1,
        }),
        figure({ scenario, what: 'additional memory after a third million', unit: 'MB', gateway: grown, max: 64 }),
      ];
    } finally {
      admin.close();
      await gateway.stop();
    }
  },
};

/** Loads until every address of a million has come by. `first`: number of the first one. */
async function showAll({ tools, say }: BenchContext, url: string, first: number): Promise<void> {
  let shown = 0;
  while (shown < many) {
    const options = {
      url: `${url}/r/0`,
      seconds: 5,
      connections: 64,
      script: 'addresses.lua',
      args: [String(many), String(first)],
    };
    shown += (await load(tools.wrk, options)).requests;
    say(`${shown} requests from ${Math.min(shown, many)} addresses`);
  }
}
