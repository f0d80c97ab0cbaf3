import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { memoryOf, openFileLimit } from '../../support/machine/process-figures.ts';
import { BenchError } from '../../support/machine/tools.ts';
import type { Subject } from '../../support/subject.ts';

const wanted = 10_000;

/** 10,000 clients that have had one answer each and keep their connection. */
export const idleConnections: Scenario = {
  name: 'idle-connections',
  async run(context: BenchContext): Promise<readonly Figure[]> {
    if (openFileLimit(process.pid) < wanted + 1000) {
      throw new BenchError(`${wanted} connections need more open files than this shell allows: ulimit -n 20000`);
    }
    const gateway = await startGateway({ folder: context.folder, workers: 1 });
    const admin = new AdminClient(gateway.adminUrl);
    try {
      await admin.addRoutes(context.backend.url, 1);
      const peer = await bytesPerConnection(context, context.peer);
      const ours = await bytesPerConnection(context, gateway);
      return [
        figure({
          scenario: 'idle-connections',
          what: `memory of each of ${wanted} idle connections`,
          unit: 'KB',
          gateway: ours / 1024,
          peer: peer / 1024,
          max: 12,
        }),
      ];
    } finally {
      admin.close();
      await gateway.stop();
    }
  },
};

async function bytesPerConnection(context: BenchContext, subject: Subject): Promise<number> {
  // What the first connections of a process set up once is no cost of the others.
  const first = await openMany(subject, 200);
  await delay(2_000);
  const before = memoryOf(subject.pids()).proportional;
  const sockets = await openMany(subject, wanted);
  await delay(5_000);
  const after = memoryOf(subject.pids()).proportional;
  const alive = sockets.filter((socket) => !socket.destroyed && socket.readable).length;
  for (const socket of [...first, ...sockets]) socket.destroy();
  if (alive < wanted) throw new BenchError(`${subject.name} kept only ${alive} of ${wanted} connections`);
  context.say(`${subject.name}: ${(before / 1e6).toFixed(1)} MB before, ${(after / 1e6).toFixed(1)} MB after`);
  return (after - before) / wanted;
}

async function openMany(subject: Subject, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 100) {
    sockets.push(...(await Promise.all(Array.from({ length: Math.min(100, count - at) }, () => openOne(subject)))));
  }
  return sockets;
}

async function openOne(subject: Subject): Promise<Socket> {
  const socket = connect(subject.port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write('GET /r/0 HTTP/1.1\r\nHost: bench\r\n\r\n');
  await once(socket, 'data');
  return socket;
}
