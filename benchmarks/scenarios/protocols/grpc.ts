import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { http2Load } from '../../support/generators/h2load.ts';
import { cpuMicroseconds } from '../../support/machine/process-figures.ts';
import { BenchError, findTool } from '../../support/machine/tools.ts';
import { checkGrpc, grpcMessage, grpcMethod, startGrpcBackend, startGrpcPeer } from '../../support/peers/grpc.ts';
import type { Subject } from '../../support/subject.ts';
import { inTurns } from '../../support/turns/rounds.ts';

const scenario = 'grpc';

/** Unary calls without TLS: 50 bytes there, 200 back, 16 connections with 8 streams each. */
export const grpc: Scenario = {
  name: scenario,
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const h2load = findTool('h2load', ['--version'], 'nghttp2-client');
    const { folder } = context;
    const message = join(folder, 'grpc-message');
    writeFileSync(message, grpcMessage(50));
    const backend = await startGrpcBackend(context, folder);
    const peer = await startGrpcPeer(context, folder, backend);
    const gateway = await startGateway({
      folder,
      workers: 1,
      env: { KONG_PROXY_LISTEN: '127.0.0.1:0 http2 backlog=4096' },
    });
    const admin = new AdminClient(gateway.adminUrl);
    try {
      await admin.write('PUT', '/services/items', { url: `grpc://127.0.0.1:${backend.port}` });
      await admin.write('PUT', '/services/items/routes/items', {
        paths: ['/'],
        protocols: ['grpc'],
        strip_path: false,
      });
      for (const subject of [backend, peer, gateway]) await checkGrpc(subject);
      const [ofPeer = [], ours = []] = await inTurns(
        context,
        [peer, gateway].map((subject) => (seconds: number) => measure(h2load, subject, message, seconds)),
      );
      return [figure({ scenario, what: 'CPU per unary call', unit: 'µs', gateway: ours, peer: ofPeer, maxRatio: 1.8 })];
    } finally {
      admin.close();
      await Promise.all([gateway.stop(), peer.stop(), backend.stop()]);
    }
  },
};

/** CPU microseconds of a call. */
async function measure(h2load: string, subject: Subject, message: string, seconds: number): Promise<number> {
  const pids = subject.pids();
  const before = cpuMicroseconds(pids);
  const { requests, failed } = await http2Load(h2load, {
    url: subject.url + grpcMethod,
    seconds,
    connections: 16,
    streams: 8,
    options: ['-d', message, '-H', 'content-type: application/grpc', '-H', 'te: trailers'],
  });
  if (failed > 0) throw new BenchError(`${subject.name} failed ${failed} of ${requests} calls`);
  return (cpuMicroseconds(pids) - before) / requests;
}
