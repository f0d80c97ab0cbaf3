import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure, median, percentile } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { type GatewaySubject, startGateway } from '../../support/gateway/gateway.ts';
import { load } from '../../support/generators/wrk.ts';
import { BenchError } from '../../support/machine/tools.ts';
import { inTurns } from '../../support/turns/rounds.ts';

const editsPerSecond = 50;
const routesUnderEdit = 5_000;
const routesWritten = 10_000;
const workers = 2;
const scenario = 'edits';

/** Config changes while traffic flows: no client notices, and a written route is active. */
export const edits: Scenario = {
  name: scenario,
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const gateway = await startGateway({ folder: context.folder, workers });
    const admin = new AdminClient(gateway.adminUrl);
    try {
      await admin.addRoutes(context.backend.url, routesUnderEdit);
      const underEdit = await trafficUnderEdits(context, gateway, admin);
      await admin.addRoutes(context.backend.url, routesWritten - routesUnderEdit, routesUnderEdit);
      return [...underEdit, ...(await routedAfterWrite(context, gateway, admin))];
    } finally {
      admin.close();
      await gateway.stop();
    }
  },
};

async function trafficUnderEdits(
  context: BenchContext,
  gateway: GatewaySubject,
  admin: AdminClient,
): Promise<readonly Figure[]> {
  let failed = 0;
  let requests = 0;
  let editsDone = 0;
  const seconds = Math.max(5, context.seconds);
  const [idle = [], busy = []] = await inTurns(context, [
    async () => {
      const calm = await pacedLoad(context, gateway, seconds);
      failed += calm.failed;
      return calm;
    },
    async (_, round) => {
      const editing = startEditing(admin, round);
      const edited = await pacedLoad(context, gateway, seconds);
      editsDone += await editing.stop();
      failed += edited.failed;
      requests += edited.requests;
      return edited;
    },
  ]);
  context.say(`${editsDone} edits, ${requests} requests under edit, ${failed} failed`);
  return [
    figure({
      scenario,
      what: `p99 under ${editsPerSecond} edits/s on ${routesUnderEdit} routes`,
      unit: 'ms',
      gateway: busy.map(({ p99 }) => p99),
      peer: idle.map(({ p99 }) => p99),
      peerName: 'idle',
      maxRatio: 1.2,
    }),
    figure({ scenario, what: 'longest request under edits', unit: 'ms', gateway: busy.map(({ max }) => max), max: 10 }),
    figure({ scenario, what: 'failed requests under edits', unit: 'requests', gateway: failed, max: 0 }),
    figure({
      scenario,
      what: 'edits answered per second',
      unit: '/s',
      gateway: editsDone / (seconds * (context.rounds + 1)),
    }),
  ];
}

/** About 1,250 requests a second: far from full, so that the latency is not that of a queue of our own making. */
function pacedLoad(context: BenchContext, gateway: GatewaySubject, seconds: number): ReturnType<typeof load> {
  return load(context.tools.wrk, {
    url: `${gateway.url}/r/0`,
    seconds,
    connections: 50,
    script: 'paced.lua',
    args: ['40'],
  });
}

/** Changes, adds and removes routes at the rate, one after the other, until told to stop; tells how many were answered. */
function startEditing(admin: AdminClient, round: number): { stop(): Promise<number> } {
  let going = true;
  let done = 0;
  const loop = async (): Promise<void> => {
    const begun = performance.now();
    while (going) {
      const ahead = begun + (done * 1000) / editsPerSecond - performance.now();
      if (ahead > 0) await delay(ahead);
      const index = 1 + (done % 1000);
      const kind = done % 4;
      if (kind === 0)
        await admin.write('PUT', `/services/backend/routes/edit-${round}-${done}`, {
          paths: [`/edit/${round}/${done}`],
        });
      else if (kind === 1) await admin.write('PATCH', `/routes/route-${index}`, { tags: [`edit-${done}`] });
      else if (kind === 2)
        await admin.write('PATCH', `/routes/route-${index}`, { paths: [`/r/${index}`, `/s/${done}`] });
      else await admin.write('DELETE', `/routes/edit-${round}-${done - 3}`);
      done++;
    }
  };
  const running = loop();
  return {
    stop: async () => {
      going = false;
      await running;
      return done;
    },
  };
}

/** After each 201, fresh connections ask for the new route; enough of them to meet every worker. */
async function routedAfterWrite(
  context: BenchContext,
  gateway: GatewaySubject,
  admin: AdminClient,
): Promise<readonly Figure[]> {
  const written: number[] = [];
  let missed = 0;
  let asked = 0;
  for (let index = 0; index < 60; index++) {
    const path = `/new/${index}`;
    const took = await admin.write('POST', '/services/backend/routes', { name: `new-${index}`, paths: [path] });
    if (index >= 10) written.push(took);
    const statuses = await Promise.all(Array.from({ length: 12 }, () => statusOf(gateway.url + path)));
    asked += statuses.length;
    for (const status of statuses) {
      if (status === 404) missed++;
      else if (status !== 200) throw new BenchError(`${path} was answered ${status}`);
    }
  }
  context.say(`${asked} requests for routes just written, ${missed} not routed`);
  return [
    figure({ scenario, what: 'requests not routed right after the 201', unit: 'requests', gateway: missed, max: 0 }),
    figure({
      scenario,
      what: `201 of a route at ${routesWritten} routes, median`,
      unit: 'ms',
      gateway: median(written),
    }),
    figure({
      scenario,
      what: `201 of a route at ${routesWritten} routes, p99`,
      unit: 'ms',
      gateway: percentile(written, 99),
      max: 50,
    }),
  ];
}

function statusOf(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (incoming) => {
      incoming.resume();
      incoming.on('end', () => resolve(incoming.statusCode ?? 0));
    }).on('error', reject);
  });
}
