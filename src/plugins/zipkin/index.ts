import { allProtocols, definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { traceHeaders } from '../../plugin-sdk/propagation/rules.ts';
import { reportSpans } from './handler.ts';
import type { ZipkinConfig } from './schema.ts';

export default definePlugin<ZipkinConfig>({
  name: 'zipkin',
  version: '1.0.0',
  priority: 100_000,
  protocols: allProtocols,
  defaultProtocols: httpProtocols,
  schema: () => import('./schema.ts'),
  needs: (config) => ({
    trace: {
      rate: config.http_endpoint === null ? 0 : (config.sample_ratio ?? 0.001),
      headers: traceHeaders(config),
    },
  }),
  setup: reportSpans,
});
