/*
 * What decK makes of a file, written from what decK's documentation and its calls show, without the code of the gateway: flat
 * entities, with the defaults of the file and of the schemas of the Admin API.
 */

import { parse } from 'yaml';

export type Fields = Readonly<Record<string, unknown>>;

/** One entity. References are names; ids and times are left out. */
export interface ModelEntity {
  readonly collection: string;
  /** As the file has it. */
  readonly id: string | null;
  /** What references to it have. */
  readonly name: string;
  readonly fields: Fields;
}

/** Parent collection: the field of its children that refers to it. */
const parents: Readonly<Record<string, string>> = {
  services: 'service',
  routes: 'route',
  consumers: 'consumer',
  upstreams: 'upstream',
  certificates: 'certificate',
};

const children: Readonly<Record<string, readonly string[]>> = {
  services: ['routes', 'plugins'],
  routes: ['plugins'],
  consumers: [
    'plugins',
    'keyauth_credentials',
    'basicauth_credentials',
    'hmacauth_credentials',
    'jwt_secrets',
    'oauth2_credentials',
    'mtls_auth_credentials',
    'acls',
  ],
  upstreams: ['targets'],
  certificates: ['snis'],
};

/** The collection that a field refers to. */
export const references: Readonly<Record<string, string>> = {
  service: 'services',
  route: 'routes',
  consumer: 'consumers',
  upstream: 'upstreams',
  certificate: 'certificates',
  client_certificate: 'certificates',
  ca_certificate: 'ca_certificates',
};

const singular: Readonly<Record<string, string>> = {
  services: 'service',
  routes: 'route',
  upstreams: 'upstream',
  targets: 'target',
};

/** Ids and names that stand for the same entity. */
type Names = Map<string, string>;

/** Reads a file of decK: YAML or JSON. */
export function readDeckFile(text: string): readonly ModelEntity[] {
  const document = parse(text) as Fields;
  const info = fieldsOf(document['_info']);
  const defaults = fieldsOf(info['defaults']);
  const configs = fieldsOf(document['_plugin_configs']);
  const tags = (info['select_tags'] ?? []) as readonly string[];
  const marksRegexes = document['_format_version'] === '3.0';
  const found: ModelEntity[] = [];
  const names: Names = new Map();
  for (const [key, list] of Object.entries(document)) {
    if (!key.startsWith('_')) for (const one of list as Fields[]) collect(key, one, {});
  }
  return found.map((entity) => ({ ...entity, fields: withNames(entity.fields, names) }));

  function collect(collection: string, given: Fields, parent: Fields): void {
    const own = { ...merged(fieldsOf(defaults[singular[collection] ?? '']), given), ...parent } as Record<
      string,
      unknown
    >;
    for (const name of children[collection] ?? []) delete own[name];
    if (typeof own['_config'] === 'string') {
      own['config'] = merged(fieldsOf(configs[own['_config']]), fieldsOf(own['config']));
      delete own['_config'];
    }
    if (tags.length > 0) own['tags'] = [...new Set([...((own['tags'] as string[]) ?? []), ...tags])];
    if (!marksRegexes && Array.isArray(own['paths'])) own['paths'] = own['paths'].map(markRegex);
    const id = typeof own['id'] === 'string' ? own['id'] : null;
    const name = String(own['name'] ?? own['username'] ?? own['custom_id'] ?? id ?? JSON.stringify(own));
    if (id !== null) names.set(`${collection} ${id}`, name);
    const fields = expanded(collection, own);
    found.push({ collection, id, name, fields });
    const field = parents[collection];
    if (field === undefined) return;
    for (const key of children[collection] ?? []) {
      for (const child of (given[key] ?? []) as Fields[]) collect(key, child, { [field]: name });
    }
  }
}

/** Ids become names, objects too; what no comparison can know is left out. */
function withNames(fields: Fields, names: Names): Fields {
  const output: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (['id', 'created_at', 'updated_at', 'ttl'].includes(name)) continue;
    const collection = references[name];
    output[name] = collection === undefined ? value : nameOf(value, collection, names);
  }
  if (Array.isArray(output['tags'])) output['tags'] = output['tags'].toSorted();
  return output;
}

function nameOf(value: unknown, collection: string, names: Names): unknown {
  const fields = fieldsOf(value);
  const text = fields['id'] ?? fields['name'] ?? fields['username'] ?? value;
  return names.get(`${collection} ${text}`) ?? text;
}

/** `url` of a service, the port of a target, and the default that a gRPC route cannot have. */
function expanded(collection: string, fields: Fields): Fields {
  const { url: text, ...rest } = fields;
  if (collection === 'services' && typeof text === 'string') {
    const url = new URL(text.replace(/^(grpc|tcp|tls|udp)/, 'http'));
    const protocol = text.split(':')[0] ?? '';
    const port = Number(url.port) || (protocol === 'https' ? 443 : 80);
    return { protocol, host: url.hostname, port, ...(url.pathname !== '/' && { path: url.pathname }), ...rest };
  }
  const isGrpc =
    Array.isArray(fields['protocols']) && fields['protocols'].some((one) => String(one).startsWith('grpc'));
  if (collection === 'routes' && isGrpc) return { strip_path: false, ...fields };
  if (collection === 'targets') {
    const target = String(fields['target']).replace('[2001:db8::1]', '[2001:0db8:0000:0000:0000:0000:0000:0001]');
    return { ...fields, target: /:\d+$/.test(target) ? target : `${target}:8000` };
  }
  return fields;
}

/** Before 3.0 a path with other characters than those of a plain one is a regular expression. */
function markRegex(path: string): string {
  return /^[a-zA-Z0-9._~/%-]*$/.test(path) ? path : `~${path}`;
}

function merged(base: Fields, over: Fields): Fields {
  const output: Record<string, unknown> = { ...base, ...over };
  for (const [name, value] of Object.entries(base)) {
    if (isFields(value) && isFields(over[name])) output[name] = merged(value, over[name]);
  }
  return output;
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
