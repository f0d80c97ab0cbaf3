import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { spawnGateway, startGateway } from '../../support/gateway/gateway.ts';
import { freePort } from '../../support/machine/free-port.ts';
import { memoryOf } from '../../support/machine/process-figures.ts';
import { BenchError } from '../../support/machine/tools.ts';
import { stopProcess } from '../../support/peers/nginx.ts';

const scenario = 'start';
const starts = 7;

/** From the spawn of the process to the first proxied answer, with a store that exists; and the memory at rest. */
export const start: Scenario = {
  name: scenario,
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const prefix = await makeStore(context);
    const times: number[] = [];
    for (let count = 0; count < starts; count++) times.push(await timeStart(context, prefix));
    const gateway = await startGateway({ folder: context.folder, workers: 2, prefix });
    try {
      await (await fetch(`${gateway.url}/r/0`)).arrayBuffer();
      await delay(5_000);
      const memory = memoryOf(gateway.pids());
      const megabyte = 1024 * 1024;
      return [
        figure({ scenario, what: 'start to first proxied request', unit: 'ms', gateway: times, max: 500 }),
        figure({
          scenario,
          what: 'memory at rest, 2 workers',
          unit: 'MB',
          gateway: memory.proportional / megabyte,
          max: 110,
        }),
        figure({
          scenario,
          what: 'memory at rest, shared pages in full',
          unit: 'MB',
          gateway: memory.resident / megabyte,
        }),
      ];
    } finally {
      await gateway.stop();
    }
  },
};

async function makeStore(context: BenchContext): Promise<string> {
  const gateway = await startGateway({ folder: context.folder, workers: 1 });
  const admin = new AdminClient(gateway.adminUrl);
  await admin.addRoutes(context.backend.url, 10);
  admin.close();
  await gateway.stop();
  return gateway.prefix;
}

async function timeStart(context: BenchContext, prefix: string): Promise<number> {
  const port = await freePort();
  const begun = performance.now();
  const { child } = spawnGateway({ folder: context.folder, workers: 2, prefix }, port);
  try {
    for (;;) {
      if (child.exitCode !== null) throw new BenchError(`the gateway ended with ${child.exitCode} instead of starting`);
      if ((await answerOf(`http://127.0.0.1:${port}/r/0`)) === 200) return performance.now() - begun;
      if (performance.now() - begun > 20_000) throw new BenchError('the gateway did not answer within 20 s');
      await delay(2);
    }
  } finally {
    await stopProcess(child);
  }
}

/** 0 if nothing listens yet. */
function answerOf(url: string): Promise<number> {
  return new Promise((resolve) => {
    get(url, { agent: false }, (incoming) => {
      incoming.resume();
      incoming.on('end', () => resolve(incoming.statusCode ?? 0));
      incoming.on('error', () => resolve(0));
    }).on('error', () => resolve(0));
  });
}
