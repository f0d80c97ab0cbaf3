import type { AccessContext, PluginTools, RequestView } from '../../plugin-sdk/index.ts';

/** The body of an echo. Absent parts are omitted. */
export function describeRequest(
  { request, route, service }: AccessContext,
  message: string | null,
  body: Uint8Array,
  { node }: PluginTools,
): Readonly<Record<string, unknown>> {
  const rawBody = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  return {
    ...(message === null ? {} : { message }),
    kong: { node_id: node.id, worker_pid: node.pid, hostname: node.hostname },
    request: {
      scheme: request.scheme,
      host: request.host,
      port: request.port,
      headers: single(request.headers()),
      query: single(request.queryArguments()),
      body: parsedBody(request, rawBody),
      raw_body: rawBody,
      method: request.method,
      path: request.path,
      uri_captures: captures(request.uriCaptures()),
    },
    ...(route === null ? {} : { matched_route: { id: route.id, name: route.name, tags: route.tags } }),
    ...(service === null
      ? {}
      : {
          matched_service: {
            id: service.id,
            name: service.name,
            protocol: service.protocol,
            host: service.host,
            port: service.port,
            path: service.path,
            tags: service.tags,
          },
        }),
  };
}

/** Kong's form: groups by number as a list, and by name. */
function captures(found: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  const unnamed: string[] = [];
  const named: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(found)) {
    if (/^[0-9]+$/.test(name)) unnamed[Number(name) - 1] = value;
    else named[name] = value;
  }
  return { named, unnamed: Array.from(unnamed, (value) => value ?? null) };
}

/** The body's fields, for the two formats that have them. */
function parsedBody(request: RequestView, text: string): unknown {
  const type = request.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded') return formFields(text);
  if (type !== 'application/json') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function formFields(text: string): Readonly<Record<string, string | readonly string[]>> {
  const fields: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    const known = fields[name];
    if (known === undefined) fields[name] = [value];
    else known.push(value);
  }
  return single(fields);
}

function single(
  map: Readonly<Record<string, readonly string[]>>,
): Readonly<Record<string, string | readonly string[]>> {
  const result: Record<string, string | readonly string[]> = Object.create(null);
  for (const [name, values] of Object.entries(map)) result[name] = values.length === 1 ? (values[0] ?? '') : values;
  return result;
}
