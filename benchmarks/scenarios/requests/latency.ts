import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { type OpenLoopFigures, openLoopLoad } from '../../support/generators/open-loop.ts';
import { load } from '../../support/generators/wrk.ts';
import { BenchError } from '../../support/machine/tools.ts';
import type { Subject } from '../../support/subject.ts';
import { inTurns } from '../../support/turns/rounds.ts';

const scenario = 'latency';
const connections = 256;
/** Seconds of a round, at the least: 99.9 % needs some requests beyond it. */
const leastSeconds = 3;

/** Latencies at a constant rate: half of what the gateway answers at full load, the same for the peers. */
export const latency: Scenario = {
  name: scenario,
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const gateway = await startGateway({ folder: context.folder, workers: 1 });
    const admin = new AdminClient(gateway.adminUrl);
    try {
      await admin.addRoutes(context.backend.url, 1);
      const rate = await halfLoad(context, gateway);
      const [ofNginx = [], ofHaproxy = [], ours = []] = await inTurns(
        context,
        [context.peer, context.haproxy, gateway].map((subject) => (seconds: number) => {
          const options = { url: `${subject.url}/r/0`, rate, connections };
          return measure(subject, { ...options, seconds: Math.max(leastSeconds, seconds) });
        }),
      );
      const p99 = (rounds: readonly OpenLoopFigures[]): readonly number[] => rounds.map((one) => one.p99);
      const p999 = (rounds: readonly OpenLoopFigures[]): readonly number[] => rounds.map((one) => one.p999);
      const common = { scenario, unit: 'ms' };
      return [
        figure({ ...common, what: 'p99 at half load, constant rate', gateway: p99(ours), peer: p99(ofNginx) }),
        figure({ ...common, what: 'p99.9 at half load, constant rate', gateway: p999(ours), peer: p999(ofNginx) }),
        figure({
          ...common,
          what: 'p99 at half load, compared with HAProxy',
          gateway: p99(ours),
          peer: p99(ofHaproxy),
          peerName: 'haproxy',
        }),
      ];
    } finally {
      admin.close();
      await gateway.stop();
    }
  },
};

/** Requests per second, found once for a run: where two commits are compared, both get the same. */
const rates = new WeakMap<Subject, number>();

async function halfLoad(context: BenchContext, gateway: Subject): Promise<number> {
  const known = rates.get(context.backend);
  if (known !== undefined) return known;
  const options = { url: `${gateway.url}/r/0`, connections: 64 };
  await load(context.tools.wrk, { ...options, seconds: 2 });
  const { requests, seconds } = await load(context.tools.wrk, { ...options, seconds: 2 });
  const rate = Math.round(requests / seconds / 2 / 100) * 100;
  context.say(`half load is ${rate} requests per second`);
  rates.set(context.backend, rate);
  return rate;
}

async function measure(subject: Subject, options: Parameters<typeof openLoopLoad>[0]): Promise<OpenLoopFigures> {
  const figures = await openLoopLoad(options);
  if (figures.failed > 0)
    throw new BenchError(`${subject.name} failed ${figures.failed} of ${figures.requests} requests`);
  return figures;
}
