import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { traceHeaders } from '../../plugin-sdk/propagation/rules.ts';
import { exportTelemetry } from './handler.ts';
import type { OpentelemetryConfig } from './schema.ts';

export default definePlugin<OpentelemetryConfig>({
  name: 'opentelemetry',
  version: '1.0.0',
  priority: 14,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  needs: (config) => {
    const headers = traceHeaders(config);
    if (config.traces_endpoint === null) return { trace: { rate: 0, headers } };
    return { trace: config.sampling_rate === null ? { headers } : { rate: config.sampling_rate, headers } };
  },
  setup: exportTelemetry,
});
