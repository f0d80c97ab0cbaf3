import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure, percentile } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { BenchError } from '../../support/machine/tools.ts';
import { inTurns } from '../../support/turns/rounds.ts';

const routes = 10_000;
const clients = 50;
const workers = 2;
const scenario = 'writes';

/** How fast much config is written: one route after another by many clients, and all at once. */
export const writes: Scenario = {
  name: scenario,
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const rounds = await byManyClients(context);
    const applied = await atOnce(context);
    const rates = rounds.map(({ rate }) => rate);
    return [
      figure({
        scenario,
        what: `${routes} routes by ${clients} clients`,
        unit: 's',
        gateway: rates.map((rate) => routes / rate),
      }),
      figure({
        scenario,
        what: `writes answered per second, ${clients} clients`,
        unit: '/s',
        gateway: rates,
        min: 1_000,
      }),
      figure({ scenario, what: `one of these writes, p99`, unit: 'ms', gateway: rounds.map(({ p99 }) => p99) }),
      figure({ scenario, what: `config apply of ${routes} services and routes`, unit: 's', gateway: applied, max: 10 }),
    ];
  },
};

interface Round {
  /** Writes answered per second, from the first request to the last 201. */
  readonly rate: number;
  /** Milliseconds. */
  readonly p99: number;
}

/** The rounds share the routes, after some that warm the code up. Each 201 is on the disk and routed. */
async function byManyClients(context: BenchContext): Promise<readonly Round[]> {
  const gateway = await startGateway({ folder: context.folder, workers });
  const admin = new AdminClient(gateway.adminUrl, clients);
  try {
    await admin.write('PUT', '/services/backend', { url: context.backend.url });
    let next = 0;
    const [measured = []] = await inTurns(context, [
      async (_, round) => {
        const latencies: number[] = [];
        const end = next + Math.ceil(round === 0 ? routes / 10 : routes / context.rounds);
        const create = async (): Promise<void> => {
          while (next < end) {
            const index = next++;
            const route = { name: `route-${index}`, paths: [`/r/${index}`], strip_path: false };
            latencies.push(await admin.write('POST', '/services/backend/routes', route));
          }
        };
        const begun = performance.now();
        await Promise.all(Array.from({ length: clients }, create));
        return {
          rate: (1000 * latencies.length) / (performance.now() - begun),
          p99: percentile(latencies, 99),
        };
      },
    ]);
    return measured;
  } finally {
    admin.close();
    await gateway.stop();
  }
}

/** Seconds from the first byte of the document to the answer, each round with a new store. */
async function atOnce(context: BenchContext): Promise<readonly number[]> {
  const body = documentOf(context.backend.url);
  const [measured = []] = await inTurns(context, [() => applyTo(context, body)]);
  return measured;
}

async function applyTo(context: BenchContext, body: string): Promise<number> {
  const gateway = await startGateway({ folder: context.folder, workers });
  try {
    const begun = performance.now();
    const response = await fetch(`${gateway.adminUrl}/config/apply`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/yaml' },
      body,
    });
    const answer = await response.text();
    if (!response.ok) throw new BenchError(`/config/apply was answered ${response.status}: ${answer.slice(0, 300)}`);
    const seconds = (performance.now() - begun) / 1000;
    const routed = await fetch(`${gateway.url}/r/${routes - 1}`);
    if (routed.status !== 200) throw new BenchError(`the last route was answered ${routed.status}`);
    return seconds;
  } finally {
    await gateway.stop();
  }
}

function documentOf(url: string): string {
  const lines = ['_format_version: "3.0"', 'services:'];
  for (let index = 0; index < routes; index++) {
    lines.push(
      `- name: service-${index}`,
      `  url: ${url}`,
      '  routes:',
      `  - name: route-${index}`,
      `    paths: [/r/${index}]`,
      '    strip_path: false',
    );
  }
  return `${lines.join('\n')}\n`;
}
