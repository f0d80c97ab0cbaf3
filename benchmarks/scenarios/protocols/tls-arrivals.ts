import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { load } from '../../support/generators/wrk.ts';
import { BenchError } from '../../support/machine/tools.ts';
import { makeCertificate } from '../../support/peers/secure-peer.ts';
import { inTurns } from '../../support/turns/rounds.ts';

const scenario = 'tls';
const arrivalsPerSecond = 100;

/** Clients on kept TLS connections, while others arrive with a full handshake each. */
export const tlsArrivals: Scenario = {
  name: 'tls-arrivals',
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const folder = join(context.folder, 'tls-arrivals');
    const { cert, key } = makeCertificate(folder);
    const gateway = await startGateway({
      folder,
      workers: 2,
      env: { KONG_PROXY_LISTEN: '127.0.0.1:0 ssl backlog=4096', KONG_SSL_CERT: cert, KONG_SSL_CERT_KEY: key },
    });
    const admin = new AdminClient(gateway.adminUrl);
    try {
      await admin.addRoutes(context.backend.url, 1);
      const url = `https://127.0.0.1:${gateway.port}/r/0`;
      const [calm = [], busy = []] = await inTurns(context, [
        (seconds) => pacedLatency(context, url, seconds),
        async (seconds) => {
          const end = await startArrivals(gateway.port);
          const latency = await pacedLatency(context, url, seconds);
          await end();
          return latency;
        },
      ]);
      return [
        figure({
          scenario,
          what: `p99 on kept connections while ${arrivalsPerSecond} clients a second arrive`,
          unit: 'ms',
          gateway: busy,
          peer: calm,
          peerName: 'nobody arrives',
          maxRatio: 1.2,
        }),
      ];
    } finally {
      admin.close();
      await gateway.stop();
    }
  },
};

/** The 99th percentile, in milliseconds, of requests at a fixed rate on kept connections. */
async function pacedLatency(context: BenchContext, url: string, seconds: number): Promise<number> {
  const { failed, p99 } = await load(context.tools.wrk, {
    url,
    seconds: Math.max(3, seconds),
    connections: 50,
    script: 'paced.lua',
    args: ['40'],
  });
  if (failed > 0) throw new BenchError('requests on kept connections failed');
  return p99;
}

/** Resolves when the first arrives, to what ends them; that rejects if one of them was not served. */
async function startArrivals(port: number): Promise<() => Promise<void>> {
  const script = join(import.meta.dirname, '..', '..', 'load', 'tls-arrivals.ts');
  const args = ['--disable-warning=ExperimentalWarning', script, `${port}`, '/r/0', `${arrivalsPerSecond}`];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let output = '';
  const begun = new Promise<void>((resolve, reject) => {
    child.once('error', reject).once('close', () => reject(new BenchError('the clients ended instead of arriving')));
    child.stdout.on('data', (piece: Buffer) => {
      output += piece.toString();
      resolve();
    });
  });
  await begun;
  return async () => {
    child.stdin.end();
    await ended;
    const { opened, failed } = JSON.parse(output.slice(output.indexOf('{'))) as Record<'opened' | 'failed', number>;
    if (failed > 0) throw new BenchError(`${failed} of ${opened} clients that arrived were not served`);
  };
}
