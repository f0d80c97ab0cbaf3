import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import type { LoadOptions } from '../../support/generators/wrk.ts';
import { measureInTurns } from '../../support/turns/measure.ts';

interface BodyScenario {
  readonly name: string;
  readonly path: string;
  readonly what: string;
  readonly maxRatio?: number;
  readonly options: Pick<LoadOptions, 'script' | 'args'> & { readonly connections: number };
}

/** Answers of 100 KB. */
export const largeAnswer = bodyScenario({
  name: 'large-answer',
  path: '/large',
  what: 'CPU per 100 KB answer',
  maxRatio: 2,
  options: { connections: 32 },
});

/** Requests with a body of 1 MB, streamed by both. */
export const upload = bodyScenario({
  name: 'upload',
  path: '/upload',
  what: 'CPU per 1 MB upload',
  maxRatio: 1.4,
  options: { connections: 16, script: 'upload.lua', args: ['1048576'] },
});

function bodyScenario(body: BodyScenario): Scenario {
  return {
    name: body.name,
    async run(context: BenchContext): Promise<readonly Figure[]> {
      const gateway = await startGateway({ folder: context.folder, workers: 1 });
      const admin = new AdminClient(gateway.adminUrl);
      try {
        await admin.write('PUT', '/services/backend', { url: context.backend.url });
        await admin.write('PUT', '/services/backend/routes/all', { paths: ['/'], strip_path: false });
        const [peer, ours] = await measureInTurns(
          context,
          [
            { subject: context.peer, path: body.path },
            { subject: gateway, path: body.path },
          ],
          body.options,
        );
        if (peer === undefined || ours === undefined) return [];
        const scenario = body.name;
        const aim = body.maxRatio === undefined ? {} : { maxRatio: body.maxRatio };
        return [
          figure({
            scenario,
            what: body.what,
            unit: 'µs',
            gateway: ours.cpuPerRequest,
            peer: peer.cpuPerRequest,
            ...aim,
          }),
          figure({
            scenario,
            what: 'requests per second',
            unit: '/s',
            gateway: ours.requestsPerSecond,
            peer: peer.requestsPerSecond,
          }),
        ];
      } finally {
        admin.close();
        await gateway.stop();
      }
    },
  };
}
