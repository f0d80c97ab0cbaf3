import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure, median } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { fillConsumers } from '../../support/gateway/fill-consumers.ts';
import { type GatewaySubject, startGateway } from '../../support/gateway/gateway.ts';
import { memoryOf } from '../../support/machine/process-figures.ts';
import { BenchError } from '../../support/machine/tools.ts';
import { measureInTurns } from '../../support/turns/measure.ts';

const scenario = 'consumers';
const counts = [100, 1_000_000] as const;
const hot = 1_000;
const lookups = 200;

/** A million consumers with keys: what is not asked for must cost neither memory nor time. */
export const consumers: Scenario = {
  name: scenario,
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const gateways: GatewaySubject[] = [];
    try {
      for (const count of counts) gateways.push(await startWith(context, count));
      const [few, many] = gateways;
      if (few === undefined || many === undefined) return [];
      const firsts = await firstLookups(many);
      const keys = (count: number) => ({ script: 'numbered.lua', args: ['apikey', 'key-', String(count)] });
      const [base, full] = await measureInTurns(context, [
        { subject: few, path: '/r/0', load: keys(counts[0]) },
        { subject: many, path: '/r/0', load: keys(hot) },
      ]);
      await delay(5_000);
      const grown = (memoryOf(many.pids()).resident - memoryOf(few.pids()).resident) / 2 ** 20;
      return [
        figure({ scenario, what: 'first request with a key, median', unit: 'ms', gateway: median(firsts), max: 2 }),
        figure({
          scenario,
          what: 'CPU per request, 1000 of 1000000 keys',
          unit: 'µs',
          gateway: full?.cpuPerRequest ?? [],
          peer: base?.cpuPerRequest ?? [],
          peerName: '100 keys in all',
          maxRatio: 1.08,
        }),
        figure({
          scenario,
          what: 'additional memory, compared with 100 consumers',
          unit: 'MB',
          gateway: grown,
          max: 300,
        }),
      ];
    } finally {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
    }
  },
};

/** A gateway over a store with so many consumers, each with a key `key-<number>`. */
async function startWith(context: BenchContext, count: number): Promise<GatewaySubject> {
  const first = await startGateway({ folder: context.folder, workers: 1 });
  const admin = new AdminClient(first.adminUrl);
  await admin.addRoutes(context.backend.url, 1);
  await admin.write('POST', '/routes/route-0/plugins', { name: 'key-auth' });
  admin.close();
  await first.stop();
  const begun = performance.now();
  fillConsumers(join(first.prefix, 'store.sqlite'), count);
  context.say(`${count} consumers written in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  const name = `gateway with ${count} consumers`;
  return startGateway({ folder: context.folder, workers: 1, prefix: first.prefix, name });
}

/** Milliseconds of requests with keys that no client has sent yet. */
async function firstLookups(gateway: GatewaySubject): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = 0; at < lookups; at++) {
    const apikey = `key-${String(500_000 + at * 997).padStart(7, '0')}`;
    const begun = performance.now();
    const response = await fetch(`${gateway.url}/r/0`, { headers: { apikey } });
    await response.arrayBuffer();
    times.push(performance.now() - begun);
    if (response.status !== 200) throw new BenchError(`a first request with ${apikey} was answered ${response.status}`);
  }
  return times.slice(lookups / 10);
}
