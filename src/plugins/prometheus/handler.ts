import { seriesWriter } from '../../plugin-kit/shared-memory/index.ts';
import type { PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import { Recorder } from './recorder.ts';
import type { PrometheusConfig } from './schema.ts';
import { bytesZone, ofRequests, ofStreams, requestsZone, timesZone } from './series-kinds.ts';

/** Nginx's status for a client that disconnected before the response. */
const clientGone = 499;

/** Counts finished requests and streams. An instance that counts nothing has no phase, and costs nothing. */
export function countRequests(config: PrometheusConfig, tools: PluginTools): PluginPhases {
  const { status_code_metrics, latency_metrics, bandwidth_metrics, per_consumer } = config;
  if (status_code_metrics !== true && latency_metrics !== true && bandwidth_metrics !== true) return {};
  const writer = (wanted: boolean | null, { name, cells }: { readonly name: string; readonly cells: number }) =>
    wanted === true ? seriesWriter(tools.zone(name), tools.node.worker, cells) : null;
  const memories = {
    requests: writer(status_code_metrics, requestsZone),
    times: writer(latency_metrics, timesZone),
    bytes: writer(bandwidth_metrics, bytesZone),
  };
  const requests = new Recorder(ofRequests, memories);
  const streams = new Recorder(ofStreams, memories);
  const namesConsumers = per_consumer === true;
  return {
    log({ route, service, client, response, measures }) {
      if (route === null) return;
      const consumer = namesConsumers ? client.consumer : null;
      const byService = response.source === 'upstream';
      const status = response.status === 0 ? clientGone : response.status;
      requests.record(route, service, consumer, status, byService, measures, measures.upstream);
    },
    streamLog({ route, service, measures }) {
      streams.record(route, service, null, measures.status, measures.source === 'upstream', measures, -1);
    },
  };
}
