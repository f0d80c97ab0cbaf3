/**
 * StatsD lines: `sluicegate/plugin-kit/telemetry/statsd`. `trafficValues` of a request, and `LineGatherer`, which packs lines into
 * datagrams.
 */

export { defaultPacketSize, LineGatherer } from './line-gatherer.ts';
export { isSampled, lineEnd, namePart, type Tag, type TagStyle, tagText, valueText } from './metric-syntax.ts';
export {
  type ConsumerIdentifier,
  consumerName,
  requestSample,
  streamSample,
  type TrafficSample,
  trafficValues,
} from './traffic-sample.ts';
