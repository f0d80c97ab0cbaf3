import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { cpuMicroseconds } from '../../support/machine/process-figures.ts';
import { echoLoad, startEchoBackend } from '../../support/peers/echo.ts';
import { startPeer } from '../../support/peers/nginx.ts';
import type { Subject } from '../../support/subject.ts';
import { inTurns } from '../../support/turns/rounds.ts';

const connections = 64;

/** Frames of 100 bytes that come back, on 64 WebSockets. */
export const websocket: Scenario = {
  name: 'websocket',
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const backend = await startEchoBackend();
    const peer = await startPeer(context.tools.nginx, `${context.folder}/websocket`, backend);
    const gateway = await startGateway({ folder: context.folder, workers: 1 });
    const admin = new AdminClient(gateway.adminUrl);
    try {
      await admin.write('PUT', '/services/echo', { url: backend.url });
      await admin.write('PUT', '/services/echo/routes/echo', { paths: ['/'], strip_path: false });
      const [ofPeer = [], ours = []] = await inTurns(
        context,
        [peer, gateway].map((subject) => (seconds: number) => costOf(subject, seconds)),
      );
      return [
        figure({
          scenario: 'websocket',
          what: 'CPU per echo of 100 bytes',
          unit: 'µs',
          gateway: ours,
          peer: ofPeer,
          maxRatio: 2,
        }),
      ];
    } finally {
      admin.close();
      await gateway.stop();
      await peer.stop();
      await backend.stop();
    }
  },
};

async function costOf(subject: Subject, seconds: number): Promise<number> {
  const pids = subject.pids();
  const before = cpuMicroseconds(pids);
  const echoed = await echoLoad(subject.port, '/echo', connections, seconds);
  return (cpuMicroseconds(pids) - before) / echoed;
}
