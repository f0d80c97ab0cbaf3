import type { AccessContext, PluginPhases, PluginTools, Reply } from '../../plugin-sdk/index.ts';
import { reply, replyJson } from '../../plugin-sdk/index.ts';
import { describeRequest } from './describe-request.ts';
import type { RequestTerminationConfig } from './schema.ts';

const defaultMessages: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  404: 'Not found',
  405: 'Method not allowed',
  500: 'An unexpected error occurred',
  502: 'Bad Gateway',
  503: 'Service unavailable',
};

export function terminateRequests(config: RequestTerminationConfig, tools: PluginTools): PluginPhases {
  const status = finalStatus(config.status_code, tools);
  const message = config.message ?? defaultMessages[status] ?? null;
  const fixed = fixedReply(config, status, message);
  return {
    access(context: AccessContext): undefined | Reply | Promise<Reply> {
      if (config.trigger !== null && !isTriggered(context, config.trigger)) return undefined;
      return config.echo ? echo(context, status, message, tools) : fixed;
    },
  };
}

function fixedReply(config: RequestTerminationConfig, status: number, message: string | null): Reply {
  if (config.body !== null) {
    const headers = config.content_type === null ? {} : { 'Content-Type': config.content_type };
    return reply({ status, headers, body: config.body });
  }
  return message === null ? reply({ status }) : replyJson(status, { message });
}

/** A header counts even when it is empty. */
function isTriggered({ request }: AccessContext, trigger: string): boolean {
  return request.header(trigger) !== null || request.queryArgument(trigger) !== null;
}

async function echo(
  context: AccessContext,
  status: number,
  message: string | null,
  tools: PluginTools,
): Promise<Reply> {
  return replyJson(status, describeRequest(context, message, await context.body(), tools));
}

/** After a status below 200 another response must follow (RFC 9110 15.2), so it cannot be final. */
function finalStatus(status: number, { log }: PluginTools): number {
  if (status >= 200) return status;
  log.warn('status_code is not the status of a final answer, so 500 is sent', { status_code: status });
  return 500;
}
