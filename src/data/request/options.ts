import type { Settings } from '../../shared/settings/settings.ts';

/** What the data plane's string builders need of the settings, decided once. */
export interface ProxyOptions {
  readonly serverHeader: boolean;
  readonly viaHeader: boolean;
  readonly proxyLatency: boolean;
  readonly upstreamLatency: boolean;
  readonly responseLatency: boolean;
  readonly upstreamStatus: boolean;
  readonly requestIdDownstream: boolean;
  readonly serverTiming: boolean;
  readonly requestIdUpstream: boolean;
  readonly realIpHeader: string;
  readonly realIpRecursive: boolean;
  readonly errorDefaultType: Settings['errorDefaultType'];
  readonly debugHeader: boolean;
  readonly maxBodySize: number;
}

export function proxyOptions(settings: Settings): ProxyOptions {
  const { headers } = settings;
  return Object.freeze({
    serverHeader: headers.has('server'),
    viaHeader: headers.has('via'),
    proxyLatency: headers.has('x-kong-proxy-latency'),
    upstreamLatency: headers.has('x-kong-upstream-latency'),
    responseLatency: headers.has('x-kong-response-latency'),
    upstreamStatus: headers.has('x-kong-upstream-status'),
    requestIdDownstream: headers.has('x-kong-request-id'),
    serverTiming: headers.has('server-timing'),
    requestIdUpstream: settings.headersUpstream.has('x-kong-request-id'),
    realIpHeader: settings.realIpHeader.toLowerCase(),
    realIpRecursive: settings.realIpRecursive,
    errorDefaultType: settings.errorDefaultType,
    debugHeader: settings.allowDebugHeader,
    maxBodySize: settings.clientMaxBodySize,
  });
}
