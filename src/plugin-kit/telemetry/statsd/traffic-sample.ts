import type { LogContext } from '../../../plugin-sdk/contexts.ts';
import type { ConsumerView, RouteView, ServiceView } from '../../../plugin-sdk/request-views.ts';
import type { StreamLogContext } from '../../../plugin-sdk/stream-contexts.ts';

/** The values of one request or stream for metrics. Milliseconds and bytes, integers as in the log record. */
export interface TrafficSample {
  readonly service: ServiceView | null;
  readonly route: RouteView | null;
  readonly consumer: ConsumerView | null;
  readonly status: number;
  readonly total: number;
  readonly gateway: number;
  /** -1: no backend was called, or the time is unknown. */
  readonly upstream: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
}

export function requestSample({ service, route, client, response, measures }: LogContext): TrafficSample {
  return {
    service,
    route,
    consumer: client.consumer,
    status: response.status,
    total: Math.round(measures.total),
    gateway: Math.round(measures.gateway),
    upstream: Math.round(measures.upstream),
    bytesReceived: measures.bytesReceived,
    bytesSent: measures.bytesSent,
  };
}

/** A stream has no consumer and no backend latency. */
export function streamSample({ service, route, measures }: StreamLogContext): TrafficSample {
  return {
    service,
    route,
    consumer: null,
    status: measures.status,
    total: Math.round(measures.total),
    gateway: Math.round(measures.gateway),
    upstream: -1,
    bytesReceived: measures.bytesReceived,
    bytesSent: measures.bytesSent,
  };
}

export type TrafficMetric =
  | 'request_count'
  | 'latency'
  | 'request_size'
  | 'response_size'
  | 'upstream_latency'
  | 'kong_latency';

export interface TrafficValue {
  /** Name of the metric. */
  readonly name: string;
  /** Below 0: this sample has no value. */
  readonly value: (sample: TrafficSample) => number;
}

/** The metrics that Kong's plugins for statsd and Datadog have in common. */
export const trafficValues: Readonly<Record<TrafficMetric, TrafficValue>> = {
  request_count: { name: 'request.count', value: () => 1 },
  latency: { name: 'latency', value: ({ total }) => total },
  request_size: { name: 'request.size', value: ({ bytesReceived }) => bytesReceived },
  response_size: { name: 'response.size', value: ({ bytesSent }) => bytesSent },
  upstream_latency: { name: 'upstream_latency', value: ({ upstream }) => upstream },
  kong_latency: { name: 'kong_latency', value: ({ gateway }) => gateway },
};

export type ConsumerIdentifier = 'consumer_id' | 'custom_id' | 'username';

/** Null: there is no consumer, or it has no such name. */
export function consumerName(consumer: ConsumerView | null, by: ConsumerIdentifier): string | null {
  if (consumer === null) return null;
  if (by === 'consumer_id') return consumer.id;
  return by === 'username' ? consumer.username : consumer.customId;
}
