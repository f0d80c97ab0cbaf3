import type { LogLine } from '../../plugin-kit/telemetry/otlp/index.ts';
import type { RequestTrace } from '../../plugin-kit/telemetry/propagation/index.ts';
import type { LogContext } from '../../plugin-sdk/index.ts';

/** The log record of a request as a line of OTLP; `body` is its JSON. */
export function logLineOf(context: LogContext, trace: RequestTrace, body: string): LogLine {
  const { request, response, measures, route, service, client } = context;
  const { status } = response;
  return {
    time: measures.startedAt,
    observed: measures.startedAt + measures.total,
    severity: status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info',
    body,
    attributes: {
      'event.name': 'kong.request',
      'kong.request.id': request.id,
      'http.request.method': request.method,
      'http.response.status_code': status === 0 ? undefined : status,
      'client.address': client.ip,
      'kong.route.name': route?.name,
      'kong.service.name': service?.name,
      'kong.consumer.id': client.consumer?.id,
    },
    traceId: trace.traceId,
    // The id of a span that is not sent would lead nowhere.
    spanId: trace.isSent ? trace.spanId : (trace.remote?.spanId ?? ''),
    sampled: trace.sampled,
  };
}
