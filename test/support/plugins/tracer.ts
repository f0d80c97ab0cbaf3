import { writeFile } from 'node:fs/promises';
import { definePlugin, httpProtocols, replyJson } from '../../../src/plugin-sdk/index.ts';

interface Config {
  readonly rate: number;
  readonly header: string | null;
  readonly drained: string | null;
}

/** A plugin for tests: keeps what is recorded of requests, and returns it at `/spans`. */
export default definePlugin<Config>({
  name: 'tracer',
  version: '1.0.0',
  priority: 12_345,
  protocols: httpProtocols,
  schema: () => import('./tracer-schema.ts'),
  needs: ({ rate, header }) => ({ trace: { rate, headers: header === null ? [] : [header] } }),
  setup({ drained }) {
    const finished: unknown[] = [];
    return {
      rewrite() {},
      async access({ request }) {
        if (request.path === '/spans') return replyJson(200, { finished: finished.splice(0) });
        await Promise.resolve();
        return undefined;
      },
      headerFilter() {},
      log({ request, trace, measures, draw }) {
        if (request.path === '/spans') return;
        const { startedAt, total, gateway, upstream, receive, bytesReceived, bytesSent, upstreamStatus, tries } =
          measures;
        const measured = {
          startedAt,
          total,
          gateway,
          upstream,
          receive,
          bytesReceived,
          bytesSent,
          upstreamStatus,
          tries,
        };
        finished.push({ path: request.path, spans: trace?.spans ?? null, measured, draw });
      },
      async drain() {
        if (drained !== null) await writeFile(drained, 'drained');
      },
    };
  },
});
