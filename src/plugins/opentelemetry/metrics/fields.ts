import { boolean, endpointUrl, number, record } from '../../../plugin-sdk/schema.ts';

/** The `metrics` record of the configuration. */
export function metricsField() {
  return record(
    {
      endpoint: endpointUrl({
        description:
          'Whole URL that metrics are sent to, by OTLP/HTTP in protocol buffers: `http://collector:4318/v1/metrics`. Null: none are.',
      }),
      push_interval: number({
        required: true,
        default: 60,
        between: [0.1, 86_400],
        unit: 's',
        description: 'Seconds from one time that metrics are sent to the next.',
      }),
      node_metrics: boolean({
        required: true,
        default: true,
        description:
          'Sends all that `GET /metrics` of this node shows. Of several instances with the same endpoint one is enough.',
      }),
      request_metrics: boolean({
        required: true,
        default: true,
        description:
          'Records and sends `http.server.request.duration` and `http.client.request.duration` of the requests that this instance is for.',
      }),
    },
    { description: 'Metrics, pushed to a collector.' },
  );
}
