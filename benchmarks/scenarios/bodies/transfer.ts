import { once } from 'node:events';
import { connect } from 'node:net';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { cpuMicroseconds, residentMegabytes } from '../../support/machine/process-figures.ts';
import { BenchError } from '../../support/machine/tools.ts';
import { gigabyte } from '../../support/peers/nginx.ts';
import type { Subject } from '../../support/subject.ts';
import { inTurns } from '../../support/turns/rounds.ts';

/** One answer of 1 GB. */
export const transfer: Scenario = {
  name: 'transfer',
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const gateway = await startGateway({ folder: context.folder, workers: 1 });
    const admin = new AdminClient(gateway.adminUrl);
    try {
      await admin.write('PUT', '/services/backend', { url: context.backend.url });
      await admin.write('PUT', '/services/backend/routes/all', { paths: ['/'], strip_path: false });
      const [peer = [], ours = []] = await inTurns(
        context,
        [context.peer, gateway].map((subject) => () => download(subject)),
      );
      const scenario = 'transfer';
      return [
        figure({
          scenario,
          what: 'CPU per MB of a 1 GB answer',
          unit: 'µs',
          gateway: ours.map(({ cpuPerMegabyte }) => cpuPerMegabyte),
          peer: peer.map(({ cpuPerMegabyte }) => cpuPerMegabyte),
          maxRatio: 1.5,
        }),
        figure({
          scenario,
          what: 'additional memory, maximum',
          unit: 'MB',
          gateway: ours.map(({ growth }) => growth),
          max: 32,
        }),
      ];
    } finally {
      admin.close();
      await gateway.stop();
    }
  },
};

interface Download {
  readonly cpuPerMegabyte: number;
  /** Megabytes by which the process was larger at the most. */
  readonly growth: number;
}

async function download(subject: Subject): Promise<Download> {
  const pids = subject.pids();
  const before = cpuMicroseconds(pids);
  const memory = residentMegabytes(pids);
  let most = memory;
  const timer = setInterval(() => {
    most = Math.max(most, residentMegabytes(pids));
  }, 50);
  const bytes = await readAway(subject.port).finally(() => clearInterval(timer));
  if (bytes < gigabyte) throw new BenchError(`${subject.name} sent ${bytes} bytes of ${gigabyte}`);
  return { cpuPerMegabyte: ((cpuMicroseconds(pids) - before) * 1024 * 1024) / gigabyte, growth: most - memory };
}

/** Reads into one buffer, so that the client is not what is measured. */
async function readAway(port: number): Promise<number> {
  let bytes = 0;
  const socket = connect({
    port,
    host: '127.0.0.1',
    onread: {
      buffer: Buffer.allocUnsafe(262_144),
      callback: (length) => {
        bytes += length;
        return true;
      },
    },
  });
  socket.write('GET /gigabyte HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  await once(socket, 'close');
  return bytes;
}
