import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure, median } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { type GatewaySubject, startGateway } from '../../support/gateway/gateway.ts';
import { backendAddresses } from '../../support/peers/nginx.ts';
import { measureInTurns } from '../../support/turns/measure.ts';

const scenario = 'aggregate';
/** Milliseconds that the three slow backends take. */
const delays: readonly number[] = [5, 10, 20];
const asked = 300;

/** One document of three backends: its cost compared with one plain request, and its time compared with the slowest of them. */
export const aggregate: Scenario = {
  name: scenario,
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const gateway = await startGateway({ folder: context.folder, workers: 1 });
    const admin = new AdminClient(gateway.adminUrl);
    try {
      await admin.addRoutes(context.backend.url, 1);
      const backends = backendAddresses.slice(0, 3).map((ip) => `http://${ip}:${context.backend.port}`);
      await addComposite(admin, 'composite', backends);
      const [plain, composite] = await measureInTurns(context, [
        { subject: gateway, path: '/r/0' },
        { subject: gateway, path: '/composite' },
      ]);
      return [
        figure({
          scenario,
          what: 'CPU per request, three backends in one answer',
          unit: 'µs',
          gateway: composite?.cpuPerRequest ?? [],
          peer: plain?.cpuPerRequest ?? [],
          peerName: 'plain',
          maxRatio: 3.5,
        }),
        ...(await latency(context, gateway, admin)),
      ];
    } finally {
      admin.close();
      await gateway.stop();
    }
  },
};

async function addComposite(admin: AdminClient, name: string, backends: readonly string[]): Promise<void> {
  const requests = [];
  for (const [at, url] of backends.entries()) {
    await admin.write('PUT', `/services/${name}-${at}`, { url });
    requests.push({ name: `part${at}`, service: `${name}-${at}`, path: '/r/0' });
  }
  await admin.write('PUT', `/routes/${name}`, { paths: [`/${name}`] });
  await admin.write('POST', `/routes/${name}/plugins`, { name: 'aggregate', config: { requests } });
}

async function latency(context: BenchContext, gateway: GatewaySubject, admin: AdminClient): Promise<readonly Figure[]> {
  const slow = await Promise.all(delays.map(startSlowBackend));
  try {
    await addComposite(
      admin,
      'slow',
      slow.map(({ url }) => url),
    );
    const slowest = slow.at(-1)?.url ?? '';
    // In turns, so that what disturbs one disturbs the other.
    const direct: number[] = [];
    const composed: number[] = [];
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let count = 0; count < asked; count++) {
      direct.push(await timeOf(agent, `${slowest}/r/0`));
      composed.push(await timeOf(agent, `${gateway.url}/slow`));
    }
    agent.destroy();
    const [alone, together] = [median(direct), median(composed)];
    context.say(`p50 of the slowest backend alone ${alone.toFixed(2)} ms, of the composite ${together.toFixed(2)} ms`);
    return [
      figure({
        scenario,
        what: `latency p50, in addition to the slowest of three backends (${delays.join(', ')} ms)`,
        unit: 'ms',
        gateway: together - alone,
        max: 1,
      }),
    ];
  } finally {
    for (const { stop } of slow) await stop();
  }
}

async function startSlowBackend(delay: number): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const body = JSON.stringify({ id: 42, name: 'item' });
  const server = createServer((_, response) => {
    setTimeout(() => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
      response.end(body);
    }, delay);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Milliseconds until the whole answer is there. */
function timeOf(agent: Agent, url: string): Promise<number> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    get(url, { agent }, (incoming) => {
      incoming.resume();
      incoming.on('end', () => resolve(performance.now() - begun));
      incoming.on('error', reject);
    }).on('error', reject);
  });
}
