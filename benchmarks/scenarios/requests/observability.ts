import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure, median } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { type GatewaySubject, startGateway } from '../../support/gateway/gateway.ts';
import { load } from '../../support/generators/wrk.ts';
import { residentMegabytes } from '../../support/machine/process-figures.ts';
import { BenchError } from '../../support/machine/tools.ts';
import { measureInTurns } from '../../support/turns/measure.ts';
import { inTurns } from '../../support/turns/rounds.ts';

const scenario = 'observability';
const routesScraped = 5_000;
const batch = { max_batch_size: 200, max_coalescing_delay: 1 };

const allMetrics = { status_code_metrics: true, latency_metrics: true, bandwidth_metrics: true };

/** The cost of reporting each request, and proof that reporting disturbs none. */
export const observability: Scenario = {
  name: scenario,
  async run(context: BenchContext): Promise<readonly Figure[]> {
    return [...(await cost(context)), ...(await scraping(context)), ...(await deadReceiver(context))];
  },
};

/** CPU per plain request with everything on, and with each of the logs, compared with the same without. */
async function cost(context: BenchContext): Promise<readonly Figure[]> {
  const { folder, backend } = context;
  const silent = await startGateway({ folder, workers: 1 });
  const telling = await startGateway({
    folder,
    workers: 1,
    name: 'gateway that tells',
    env: { KONG_PROXY_ACCESS_LOG: join(folder, 'access.log'), KONG_TRACING_SAMPLING_RATE: '0.01' },
  });
  const admins = [silent, telling].map(({ adminUrl }) => new AdminClient(adminUrl));
  const [quiet, told] = admins as [AdminClient, AdminClient];
  try {
    await quiet.addRoutes(backend.url, 3);
    await quiet.write('POST', '/routes/route-1/plugins', {
      name: 'file-log',
      config: { path: join(folder, 'records.log') },
    });
    await quiet.write('POST', '/routes/route-2/plugins', {
      name: 'http-log',
      config: { http_endpoint: `${backend.url}/logs`, queue: batch },
    });
    await told.addRoutes(backend.url, 1);
    await told.write('POST', '/plugins', { name: 'prometheus', config: allMetrics });
    await told.write('POST', '/plugins', {
      name: 'opentelemetry',
      config: { traces_endpoint: `${backend.url}/v1/traces` },
    });
    const measured = await measureInTurns(context, [
      { subject: silent, path: '/r/0' },
      { subject: telling, path: '/r/0' },
      { subject: silent, path: '/r/1' },
      { subject: silent, path: '/r/2' },
    ]);
    const [peer, all, file, http] = measured.map(({ cpuPerRequest }) => cpuPerRequest);
    const compared = (what: string, gateway: readonly number[] = [], maxRatio?: number): Figure =>
      figure({
        scenario,
        what,
        unit: 'µs',
        gateway,
        peer: peer ?? [],
        peerName: 'without',
        ...(maxRatio === undefined ? {} : { maxRatio }),
      });
    return [
      compared('CPU per request: prometheus, access log, 1 % traced', all, 1.25),
      compared('CPU per request: file-log', file, 1.4),
      compared('CPU per request: http-log, batches of 200', http, 1.5),
    ];
  } finally {
    for (const admin of admins) admin.close();
    await Promise.all([silent.stop(), telling.stop()]);
  }
}

/** The page of metrics with series of many routes, while requests are measured. */
async function scraping(context: BenchContext): Promise<readonly Figure[]> {
  const gateway = await startGateway({ folder: context.folder, workers: 1 });
  const admin = new AdminClient(gateway.adminUrl);
  try {
    await admin.addRoutes(context.backend.url, routesScraped);
    await admin.write('POST', '/plugins', { name: 'prometheus', config: allMetrics });
    // Every route has been asked.
    await load(context.tools.wrk, {
      url: gateway.url,
      seconds: 3,
      connections: 64,
      script: 'spread.lua',
      args: [String(routesScraped)],
    });
    const scrapes: Scrape[] = [];
    const [calm = [], busy = []] = await inTurns(context, [
      () => pacedLoad(context, gateway),
      async (_, round) => {
        const [during, made] = await Promise.all([pacedLoad(context, gateway), scrapeEach(gateway, context.seconds)]);
        if (round > 0) scrapes.push(...made);
        return during;
      },
    ]);
    const [first] = scrapes;
    context.say(`${scrapes.length} scrapes of ${((first?.bytes ?? 0) / 1e6).toFixed(1)} MB`);
    const times = scrapes.map(({ milliseconds }) => milliseconds);
    return [
      figure({
        scenario,
        what: `metrics page, ${routesScraped} routes with traffic`,
        unit: 'ms',
        gateway: median(times),
        max: 300,
      }),
      figure({
        scenario,
        what: 'slowest request while it is scraped each second, median of rounds',
        unit: 'ms',
        gateway: busy.map(({ max }) => max),
        peer: calm.map(({ max }) => max),
        peerName: 'not scraped',
        max: 20,
      }),
    ];
  } finally {
    admin.close();
    await gateway.stop();
  }
}

interface Scrape {
  readonly milliseconds: number;
  readonly bytes: number;
}

async function scrapeEach(gateway: GatewaySubject, seconds: number): Promise<readonly Scrape[]> {
  const made: Scrape[] = [];
  for (let second = 0; second < seconds; second++) {
    const scrape = await scrapeOnce(`${gateway.adminUrl}/metrics`);
    made.push(scrape);
    await delay(Math.max(0, 1000 - scrape.milliseconds));
  }
  return made;
}

function scrapeOnce(url: string): Promise<Scrape> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (incoming) => {
      if (incoming.statusCode !== 200) reject(new BenchError(`${url} was answered ${incoming.statusCode}`));
      let bytes = 0;
      incoming.on('data', (chunk: Buffer) => {
        bytes += chunk.byteLength;
      });
      incoming.on('end', () => resolve({ milliseconds: performance.now() - begun, bytes }));
    }).on('error', reject);
  });
}

/** About 1,250 requests a second: far from full, so that the slowest is not in a queue of our own making. */
function pacedLoad(context: BenchContext, gateway: GatewaySubject): ReturnType<typeof load> {
  return load(context.tools.wrk, {
    url: `${gateway.url}/r/0`,
    seconds: context.seconds,
    connections: 50,
    script: 'paced.lua',
    args: ['40'],
  });
}

/** Full load with records that no server accepts. */
async function deadReceiver(context: BenchContext): Promise<readonly Figure[]> {
  const gateway = await startGateway({ folder: context.folder, workers: 1 });
  const admin = new AdminClient(gateway.adminUrl);
  const seconds = Math.max(10, context.seconds);
  const fullLoad = () => load(context.tools.wrk, { url: `${gateway.url}/r/0`, seconds, connections: 64 });
  try {
    await admin.addRoutes(context.backend.url, 1);
    const before = await fullLoad();
    const memory = residentMegabytes(gateway.pids());
    // Nothing listens on this port.
    await admin.write('POST', '/plugins', {
      name: 'http-log',
      config: { http_endpoint: 'http://127.0.0.1:9/', queue: batch },
    });
    const during = await fullLoad();
    context.say(`${before.requests} requests without, ${during.requests} with a receiver that is down`);
    return [
      figure({
        scenario,
        what: 'failed requests while the log server is down',
        unit: 'requests',
        gateway: during.failed,
        max: 0,
      }),
      figure({
        scenario,
        what: 'memory with records that no server accepts',
        unit: 'MB',
        gateway: residentMegabytes(gateway.pids()),
        peer: memory,
        peerName: 'without',
      }),
    ];
  } finally {
    admin.close();
    await gateway.stop();
  }
}
