import { traceHeaders } from '../../plugin-kit/telemetry/propagation/index.ts';
import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { exportTelemetry } from './handler.ts';
import type { OpentelemetryConfig } from './schema.ts';
import { zones } from './zones.ts';

export default definePlugin<OpentelemetryConfig>({
  name: 'opentelemetry',
  version: '1.0.0',
  priority: 14,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  needs: ({ traces_endpoint, logs_endpoint, sampling_rate, ...config }) => {
    // Metrics alone do not change requests.
    if (traces_endpoint === null && logs_endpoint === null) return {};
    const headers = traceHeaders(config);
    if (traces_endpoint === null) return { trace: { rate: 0, headers } };
    return { trace: sampling_rate === null ? { headers } : { rate: sampling_rate, headers } };
  },
  zones,
  background: () => import('./background.ts'),
  setup: exportTelemetry,
});
