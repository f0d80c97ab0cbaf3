import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { AdminClient } from '../support/admin-client.ts';
import type { BenchContext, Scenario } from '../support/context.ts';
import { type Figure, figure, median } from '../support/figures.ts';
import { startGateway } from '../support/gateway.ts';
import { makeCertificate } from '../support/secure-peer.ts';
import { BenchError } from '../support/tools.ts';
import { load } from '../support/wrk.ts';

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
    const calm: number[] = [];
    const busy: number[] = [];
    try {
      await admin.addRoutes(context.backend.url, 1);
      const seconds = Math.max(3, context.seconds);
      const paced = (): ReturnType<typeof load> =>
        load(context.tools.wrk, {
          url: `https://127.0.0.1:${gateway.port}/r/0`,
          seconds,
          connections: 50,
          script: 'paced.lua',
          args: ['40'],
        });
      for (let round = 0; round <= context.rounds; round++) {
        const alone = await paced();
        const end = await startArrivals(gateway.port);
        const joined = await paced();
        await end();
        if (alone.failed + joined.failed > 0) throw new BenchError('requests on kept connections failed');
        if (round === 0) continue;
        calm.push(alone.p99);
        busy.push(joined.p99);
      }
    } finally {
      admin.close();
      await gateway.stop();
    }
    return [
      figure({
        scenario,
        what: `p99 on kept connections while ${arrivalsPerSecond} clients a second arrive`,
        unit: 'ms',
        gateway: median(busy),
        peer: median(calm),
        peerName: 'nobody arrives',
        maxRatio: 1.2,
      }),
    ];
  },
};

/** Resolves when the first arrives, to what ends them; that rejects if one of them was not served. */
async function startArrivals(port: number): Promise<() => Promise<void>> {
  const script = join(import.meta.dirname, '..', 'load', 'tls-arrivals.ts');
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
