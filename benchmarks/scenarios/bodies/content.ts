import type { BenchContext, Scenario } from '../../support/context.ts';
import { eachRound, type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { measureInTurns } from '../../support/turns/measure.ts';

const scenario = 'content';

/** What it costs to read and write bodies: more than the same request on a route that leaves them alone. */
export const content: Scenario = {
  name: scenario,
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const gateway = await startGateway({ folder: context.folder, workers: 1 });
    const admin = new AdminClient(gateway.adminUrl);
    try {
      await admin.write('PUT', '/services/backend', { url: context.backend.url });
      for (const name of ['plain', 'masked', 'converted']) {
        await admin.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`] });
      }
      await configure(admin);
      const measured = await measureInTurns(
        context,
        [
          '/plain/people.json',
          '/masked/people.json',
          '/plain/people.xml',
          '/converted/people.xml',
          '/plain/',
          '/converted/',
        ].map((path) => ({ subject: gateway, path })),
        { connections: 16 },
      );
      const [json = [], masked = [], xml = [], converted = [], small = [], untouched = []] = measured.map(
        ({ cpuPerRequest }) => cpuPerRequest,
      );
      return [
        figure({
          scenario,
          what: 'masking five paths in 10 KB of JSON',
          unit: 'µs',
          gateway: eachRound(masked, json, (more, less) => more - less),
          max: 80,
        }),
        figure({
          scenario,
          what: 'XML to JSON of 100 KB',
          unit: 'ms',
          gateway: eachRound(converted, xml, (more, less) => (more - less) / 1000),
          max: 15,
        }),
        figure({
          scenario,
          what: 'CPU per request, a body plugin that does not change the answer',
          unit: 'µs',
          gateway: untouched,
          peer: small,
          peerName: 'no plugin',
        }),
      ];
    } finally {
      admin.close();
      await gateway.stop();
    }
  },
};

async function configure(admin: AdminClient): Promise<void> {
  const paths = ['$.people[*].email', '$.people[*].card', '$.people[*].phone', '$.owner.name', '$.owner.iban'];
  await admin.write('POST', '/routes/masked/plugins', {
    name: 'data-masking',
    config: { rules: [{ name: 'people', json_paths: paths, direction: 'response' }] },
  });
  await admin.write('POST', '/routes/converted/plugins', {
    name: 'xml-json',
    config: { backend: 'xml', client: 'json' },
  });
}
