import type { QueueSettings } from '../../../plugin-kit/delivery/index.ts';

/** The part of the configuration that the metrics use. */
export interface MetricsConfig {
  readonly metrics: {
    readonly endpoint: string | null;
    /** Seconds. */
    readonly push_interval: number;
    readonly node_metrics: boolean;
    readonly request_metrics: boolean;
  };
  readonly headers: Readonly<Record<string, string>> | null;
  readonly resource_attributes: Readonly<Record<string, string>> | null;
  readonly connect_timeout: number | null;
  readonly send_timeout: number | null;
  readonly read_timeout: number | null;
  readonly queue: QueueSettings;
}

/** An instance whose request metrics are recorded. */
export function recordsRequests({ metrics }: Pick<MetricsConfig, 'metrics'>): boolean {
  return metrics.endpoint !== null && metrics.request_metrics;
}
