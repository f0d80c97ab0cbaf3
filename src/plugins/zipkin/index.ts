import { traceHeaders } from '../../plugin-kit/telemetry/propagation/index.ts';
import { allProtocols, definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { exportToZipkin } from './handler.ts';
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
  setup: exportToZipkin,
});
