import { addVary } from '../../plugin-kit/http/index.ts';
import { type LabelledCounts, labelledCounts } from '../../plugin-kit/shared-memory/index.ts';
import type { AccessContext, HeaderFilterContext, PluginPhases, PluginTools, Reply } from '../../plugin-sdk/index.ts';
import { contextKey, refuse, replyJson } from '../../plugin-sdk/index.ts';
import type { ApiVersioningConfig } from './schema.ts';
import { checkSources, type Named, sourcesOf } from './sources.ts';
import { type Version, VersionTable } from './versions.ts';
import { usageZone } from './zones.ts';

interface Outcome {
  readonly version: Version | null;
  /** Number of sources that were checked. */
  readonly checked: number;
}

const outcomeKey = contextKey<Outcome>('api version');

/** `now`: milliseconds since the epoch. */
export function selectVersion(
  config: ApiVersioningConfig,
  tools: PluginTools,
  now: () => number = () => Date.now(),
): PluginPhases {
  const table = new VersionTable(config);
  const sources = sourcesOf(config, table);
  const queryNames = new Set([config.query_name]);
  const usage = usageOf(config, tools, now);
  const missing = new Set<string>();

  function access(context: AccessContext): Reply | undefined {
    const { named, checked } = checkSources(sources, context);
    const version = named?.conflict === true ? null : table.resolve(named?.text ?? null);
    context.set(outcomeKey, { version, checked });
    usage?.add([version?.name ?? '', context.client.consumer?.id ?? '']);
    if (named?.conflict === true) return refuse(400, 'The request names two versions');
    if (version === null) return notFound(context, named);
    context.log('api_version', version.name);
    context.setApiVersion(version.name);
    if (config.refuse_after_sunset && now() >= version.sunset) return gone(context, version);
    tidy(context, named);
    if (version.prefix !== '') {
      const { upstream } = context;
      upstream.setPathInService(version.prefix + upstream.pathInService);
    }
    return send(context, version);
  }

  /** Removes the version from the request to the backend. */
  function tidy({ request, upstream }: AccessContext, named: Named | null): void {
    if (named !== null && named.segmentAt >= 0 && config.strip_path_segment) {
      const rest = withoutSegment(upstream.pathInService, request.path, named);
      if (rest !== null) upstream.setPathInService(rest);
    }
    if (config.strip_query_argument && request.query !== '' && config.sources.includes('query')) {
      upstream.removeQueryArguments(queryNames);
    }
  }

  /** A request must never reach the backend of another version. */
  function send({ upstream }: AccessContext, version: Version): Reply | undefined {
    if (version.service !== null && !upstream.setService(version.service)) return absent(`service ${version.service}`);
    if (version.upstream !== null && !upstream.setUpstream(version.upstream)) {
      return absent(`upstream ${version.upstream}`);
    }
    return undefined;
  }

  function absent(what: string): Reply {
    tools.count('missing');
    if (!missing.has(what)) {
      missing.add(what);
      tools.log.warn(`there is no ${what}: its version is answered with 503`);
    }
    return refuse(503, 'This version is not available');
  }

  function notFound({ request }: AccessContext, named: Named | null): Reply {
    const message = named === null ? 'The request names no version' : 'There is no such version';
    return replyJson(404, { message, versions: table.names(now()), request_id: request.id });
  }

  function gone({ request }: AccessContext, { name, sunset }: Version): Reply {
    const message = `Version ${name} ended on ${new Date(sunset).toISOString().slice(0, 10)}`;
    return replyJson(410, { message, versions: table.names(now()), request_id: request.id });
  }

  function headerFilter(context: HeaderFilterContext): void {
    const outcome = context.get(outcomeKey);
    if (outcome === undefined) return;
    const { version, checked } = outcome;
    const { response } = context;
    for (const { headers } of sources.slice(0, checked)) for (const name of headers) addVary(response, name);
    if (version === null) return;
    for (const [name, value] of version.headers) response.setHeader(name, value);
    if (version.link !== null) response.addHeader('Link', version.link);
    if (config.response_header !== null) response.setHeader(config.response_header, version.name);
  }

  return { access, headerFilter };
}

function usageOf(config: ApiVersioningConfig, tools: PluginTools, now: () => number): LabelledCounts | null {
  const zone = usageZone(config, tools.instanceId);
  return zone === null ? null : labelledCounts(tools.zone(zone.name), tools.node.worker, now);
}

/**
 * The path below the service without the segment of the version; null where it is not in there: the route has stripped it, or
 * another plugin has set another path.
 */
function withoutSegment(rest: string, path: string, { text, segmentAt }: Named): string | null {
  const fromVersion = path.slice(segmentAt - 1);
  if (!rest.endsWith(fromVersion)) return null;
  const before = rest.slice(0, rest.length - fromVersion.length);
  const after = fromVersion.slice(text.length + 1);
  return before + after === '' ? '/' : before + after;
}
