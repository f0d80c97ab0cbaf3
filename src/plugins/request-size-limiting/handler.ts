import { type AccessContext, type PluginPhases, type Reply, type RequestView, refuse } from '../../plugin-sdk/index.ts';
import type { RequestSizeLimitingConfig } from './schema.ts';

const bytesIn = { bytes: 1, kilobytes: 1024, megabytes: 1024 * 1024 } as const;

export function limitRequestSize(config: RequestSizeLimitingConfig): PluginPhases {
  const limit = Math.max(0, config.allowed_payload_size ?? Number.POSITIVE_INFINITY) * bytesIn[config.size_unit];
  const { require_content_length: requireLength } = config;
  return {
    access(context: AccessContext): Reply | undefined {
      const { request } = context;
      if (requireLength && !declaresBody(request)) return refuse(411, 'A valid Content-Length header is required');
      if (context.limitBody(limit)) return undefined;
      return refuse(expectsContinue(request) ? 417 : 413, 'Request size limit exceeded');
    },
  };
}

function declaresBody(request: RequestView): boolean {
  return request.header('content-length') !== null || request.header('transfer-encoding') !== null;
}

/** Refuses before the client sends its body. */
function expectsContinue(request: RequestView): boolean {
  return request.header('expect')?.toLowerCase() === '100-continue';
}
