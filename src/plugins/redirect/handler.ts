import {
  type AccessContext,
  type PluginPhases,
  type PluginTools,
  type Reply,
  type RequestView,
  reply,
} from '../../plugin-sdk/index.ts';
import type { RedirectConfig } from './schema.ts';

export function redirect(config: RedirectConfig, tools: PluginTools): PluginPhases {
  const status = finalStatus(config.status_code, tools);
  if (config.keep_incoming_path !== true) {
    const fixed = redirection(status, config.location);
    return { access: () => fixed };
  }
  const origin = /^[^:]+:\/\/[^/?#]+/.exec(config.location)?.[0] ?? config.location;
  return { access: ({ request }: AccessContext) => redirection(status, origin + sameTarget(request)) };
}

function redirection(status: number, location: string): Reply {
  const headers = { Location: location, 'Content-Type': 'text/plain; charset=utf-8' };
  return reply({ status, headers, body: 'redirecting' });
}

/**
 * Path and query as they were sent. Behind an origin a path cannot become a host; slashes at its beginning are merged all the same,
 * for clients and proxies that cut the origin off again: `//evil.example` alone would name one.
 */
function sameTarget({ rawPath, query }: RequestView): string {
  const path = `/${rawPath.replace(/^[/\\]+/, '')}`;
  return escaped(query === '' ? path : `${path}?${query}`);
}

/** One char stands for one byte; what may not stand in a URL is encoded. */
function escaped(text: string): string {
  return text.replace(/[^\x21-\x7e]|["<>\\^`{|}]/g, (char) => {
    return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

/** After a status below 200 another answer must follow (RFC 9110 15.2), so none of them can be the last word. */
function finalStatus(status: number, { log }: PluginTools): number {
  if (status >= 200) return status;
  log.warn('status_code is not the status of a final answer, so 500 is sent', { status_code: status });
  return 500;
}
