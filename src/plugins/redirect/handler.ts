import type { AccessContext, PluginPhases, PluginTools, Reply, RequestView } from '../../plugin-sdk/index.ts';
import { reply } from '../../plugin-sdk/index.ts';
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
 * Path and query, unchanged. After an origin a path cannot become a host. Leading slashes are merged anyway, for clients and
 * proxies that remove the origin: `//evil.example` alone would be a host.
 */
function sameTarget({ rawPath, query }: RequestView): string {
  const path = `/${rawPath.replace(/^[/\\]+/, '')}`;
  return escaped(query === '' ? path : `${path}?${query}`);
}

/** One char for each byte; characters that are not allowed in a URL are encoded. */
function escaped(text: string): string {
  return text.replace(/[^\x21-\x7e]|["<>\\^`{|}]/g, (char) => {
    return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

/** After a status below 200 another response must follow (RFC 9110 15.2), so it cannot be final. */
function finalStatus(status: number, { log }: PluginTools): number {
  if (status >= 200) return status;
  log.warn('status_code is not the status of a final answer, so 500 is sent', { status_code: status });
  return 500;
}
