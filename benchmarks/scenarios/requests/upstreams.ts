import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { backendAddresses } from '../../support/peers/nginx.ts';
import { measureInTurns } from '../../support/turns/measure.ts';

/** Compared with a plain service; each with passive health checks. */
const upstreams: readonly (readonly [name: string, fields: Readonly<Record<string, unknown>>])[] = [
  ['round-robin', { algorithm: 'round-robin' }],
  ['least-connections', { algorithm: 'least-connections' }],
  ['latency', { algorithm: 'latency' }],
  ['consistent-hashing', { hash_on: 'header', hash_on_header: 'user-agent' }],
];

const healthchecks = { passive: { unhealthy: { tcp_failures: 3, timeouts: 3, http_failures: 3 } } };

/** What an upstream of 10 targets costs over a service that names its backend itself. */
export const tenTargets: Scenario = {
  name: 'upstreams',
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const gateway = await startGateway({ folder: context.folder, workers: 1 });
    const admin = new AdminClient(gateway.adminUrl);
    try {
      await admin.addRoutes(context.backend.url, 1);
      for (const [name, fields] of upstreams) {
        await admin.write('PUT', `/upstreams/${name}`, { ...fields, healthchecks });
        for (const ip of backendAddresses) {
          await admin.write('POST', `/upstreams/${name}/targets`, { target: `${ip}:${context.backend.port}` });
        }
        await admin.write('PUT', `/services/${name}`, { host: name });
        await admin.write('PUT', `/services/${name}/routes/${name}`, { paths: [`/${name}`], strip_path: false });
      }
      const [plain, ...balanced] = await measureInTurns(context, [
        { subject: gateway, path: '/r/0' },
        ...upstreams.map(([name]) => ({ subject: gateway, path: `/${name}` })),
      ]);
      return balanced.map(({ cpuPerRequest }, at) =>
        figure({
          scenario: 'upstreams',
          what: `CPU per request, 10 targets, ${upstreams[at]?.[0]}`,
          unit: 'µs',
          gateway: cpuPerRequest,
          peer: plain?.cpuPerRequest ?? [],
          peerName: 'plain service',
          ...(at === 0 ? { maxRatio: 1.05 } : {}),
        }),
      );
    } finally {
      admin.close();
      await gateway.stop();
    }
  },
};
