import { endpointUrl } from '../../../plugin-kit/fields/index.ts';
import { boolean, number, record } from '../../../plugin-sdk/schema.ts';

/** The `metrics` record of the configuration. */
export function metricsField() {
  return record(
    {
      endpoint: endpointUrl({
        description:
          'Full URL that metrics are sent to, as OTLP over HTTP with protocol buffers: `http://collector:4318/v1/metrics`. Null: none are sent.',
      }),
      push_interval: number({
        required: true,
        default: 60,
        between: [0.1, 86_400],
        unit: 's',
        description: 'Interval between two pushes.',
      }),
      node_metrics: boolean({
        required: true,
        default: true,
        description: 'Sends all metrics of `GET /metrics` of this node. One instance per endpoint is enough.',
      }),
      request_metrics: boolean({
        required: true,
        default: true,
        description:
          'Records and sends `http.server.request.duration` and `http.client.request.duration` for requests in the scope of this instance.',
      }),
    },
    { description: 'Metrics that are pushed to a receiver.' },
  );
}
