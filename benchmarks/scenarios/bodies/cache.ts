import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { proxyServer, startNginx } from '../../support/peers/nginx.ts';
import type { Subject } from '../../support/subject.ts';
import { type Measured, measureInTurns } from '../../support/turns/measure.ts';

const scenario = 'cache';

/** Answers from the cache, compared with nginx that proxies the same, and with nginx's own cache. */
export const cache: Scenario = {
  name: scenario,
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const gateway = await startGateway({ folder: context.folder, workers: 1 });
    const admin = new AdminClient(gateway.adminUrl);
    const caching = await startCachingPeer(context);
    try {
      await admin.addRoutes(context.backend.url, 1);
      await admin.write('POST', '/routes/route-0/plugins', {
        name: 'proxy-cache',
        config: { strategy: 'memory', cache_ttl: 3600 },
      });
      const [proxied, cached, hit] = await measureInTurns(context, [
        { subject: context.peer, path: '/r/0' },
        { subject: caching, path: '/r/0' },
        { subject: gateway, path: '/r/0' },
      ]);
      const common = { scenario, unit: 'µs', gateway: costOf(hit) };
      return [
        figure({ ...common, what: 'CPU per hit, compared with proxying', peer: costOf(proxied), maxRatio: 1 }),
        figure({
          ...common,
          what: 'CPU per hit, compared with a hit of nginx',
          peer: costOf(cached),
          peerName: 'nginx, hit',
          maxRatio: 2,
        }),
      ];
    } finally {
      admin.close();
      await Promise.all([gateway.stop(), caching.stop()]);
    }
  },
};

async function startCachingPeer(context: BenchContext): Promise<Subject> {
  const root = join(context.folder, 'caching-peer');
  mkdirSync(root, { recursive: true });
  return await startNginx(context.tools.nginx, root, 'nginx, hit', (port) => {
    const server = proxyServer(context.backend.port, `listen 127.0.0.1:${port} backlog=4096;`);
    return `
    proxy_cache_path ${root}/cache keys_zone=answers:10m use_temp_path=off;
    ${server.replace('proxy_pass http://backend;', 'proxy_pass http://backend; proxy_cache answers; proxy_cache_valid 200 1h;')}`;
  });
}

function costOf(measured: Measured | undefined): readonly number[] {
  return measured?.cpuPerRequest ?? [];
}
