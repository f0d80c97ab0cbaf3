import { array, set } from '../schema/collections.ts';
import {
  autoId,
  createdAt,
  entityName,
  headerName,
  headers,
  httpMethod,
  ipOrCidr,
  PROTOCOLS,
  port,
  tags,
  updatedAt,
  wildcardHost,
} from '../schema/common-fields.ts';
import type { Field } from '../schema/field-meta.ts';
import { asField, boolean, integer, type RecordSchema, string } from '../schema/fields.ts';
import { routeHostProblem, routePathProblem } from '../schema/formats.ts';
import { extendRecord, foreign, record } from '../schema/record.ts';
import { regexProblem } from '../schema/regex.ts';
import { defineEntity } from './define-entity.ts';

const MATCH_BY_ADDRESS = 'Only for streams.';

const FORBIDDEN_HOST_HEADER = {
  pattern: /^host$/i,
  err: "cannot contain 'host' header, which must be specified in the 'hosts' attribute",
};

const base = record(
  {
    id: autoId(),
    created_at: createdAt(),
    updated_at: updatedAt(),
    name: entityName({ description: 'Name of the route.' }),
    protocols: set(string({ one_of: PROTOCOLS }), {
      required: true,
      default: ['http', 'https'],
      refuses_null: true,
      mutually_exclusive_subsets: [['http', 'https'], ['tcp', 'tls', 'udp'], ['tls_passthrough'], ['grpc', 'grpcs']],
      custom: (protocols: readonly string[]) => (protocols.length === 0 ? 'unknown type: nil' : null),
      description: 'Protocols that the route accepts.',
    }),
    https_redirect_status_code: integer({
      required: true,
      default: 426,
      refuses_null: true,
      one_of: [426, 301, 302, 307, 308],
      description: 'Status for a plain HTTP request if the route accepts only HTTPS.',
    }),
    strip_path: stripPath({ default: true }),
    preserve_host: boolean({
      required: true,
      default: false,
      refuses_null: true,
      description: "Whether the backend gets the client's Host header.",
    }),
    request_buffering: boolean({
      required: true,
      default: true,
      refuses_null: true,
      description: 'Accepted for compatibility: request bodies always stream.',
    }),
    response_buffering: boolean({
      required: true,
      default: true,
      refuses_null: true,
      description: 'Accepted for compatibility: response bodies always stream.',
    }),
    tags: tags(),
    service: foreign('services', { description: 'Service that gets the requests. Without one, a plugin must answer.' }),
    methods: set(httpMethod(), { description: 'Request methods that match.' }),
    hosts: array(string({ custom: routeHostProblem }), {
      description: 'Hosts that match. The leftmost or rightmost label may be `*`.',
    }),
    paths: array(string({ custom: routePathProblem }), {
      description: 'Path prefixes that match, or `~` and a regular expression anchored at the beginning.',
    }),
    headers: headers({
      keys: headerName({ match_none: [FORBIDDEN_HOST_HEADER] }),
      values: array(string({ custom: headerValueProblem }), { len_min: 1 }),
      description: 'Headers that match, with their allowed values; a single value `~*regex` is a regular expression.',
    }),
    regex_priority: integer({
      required: true,
      default: 0,
      description: 'Decides between routes that match by regular expression: the higher one wins.',
    }),
    path_handling: string({
      required: true,
      default: 'v0',
      one_of: ['v0', 'v1'],
      description: "How the service's path and the request's path are joined.",
    }),
    sources: addresses("The client's addresses that match."),
    destinations: addresses('The addresses of the gateway that match.'),
    snis: set(wildcardHost(), { description: 'TLS server names that match.' }),
  },
  {
    checks: [
      {
        conditional: {
          if_field: 'protocols',
          if_match: { elements: { not_one_of: ['grpcs', 'https', 'tls', 'tls_passthrough'] } },
          then_field: 'snis',
          then_match: { len_eq: 0 },
          then_err: "'snis' can only be set when 'protocols' is 'grpcs', 'https', 'tls' or 'tls_passthrough'",
        },
      },
    ],
  },
);

const http = extendRecord(base, {
  fields: forbid(['sources', 'destinations'], "'http' or 'https'"),
  checks: [
    {
      conditional_at_least_one_of: {
        if_field: 'protocols',
        if_match: { contains: 'https' },
        then_at_least_one_of: ['methods', 'hosts', 'headers', 'paths', 'snis'],
        then_err: "must set one of %s when 'protocols' is 'https'",
        else_match: { contains: 'http' },
        else_then_at_least_one_of: ['methods', 'hosts', 'headers', 'paths'],
        else_then_err: "must set one of %s when 'protocols' is 'http'",
      },
    },
  ],
});

const stream = extendRecord(base, {
  fields: forbid(['methods', 'hosts', 'paths', 'headers'], "'tcp', 'tls', 'tls_passthrough' or 'udp'"),
  checks: [
    {
      conditional_at_least_one_of: {
        if_field: 'protocols',
        if_match: { elements: { one_of: ['tcp', 'tls', 'udp'] } },
        then_at_least_one_of: ['sources', 'destinations', 'snis'],
        then_err: "must set one of %s when 'protocols' is 'tcp', 'tls' or 'udp'",
      },
    },
    {
      conditional_at_least_one_of: {
        if_field: 'protocols',
        if_match: { elements: { one_of: ['tls_passthrough'] } },
        then_at_least_one_of: ['snis'],
        then_err: "must set snis when 'protocols' is 'tls_passthrough'",
      },
    },
  ],
});

const grpc = extendRecord(base, {
  fields: {
    strip_path: stripPath({
      default: false,
      ne: true,
      err: "cannot set 'strip_path' when 'protocols' is 'grpc' or 'grpcs'",
    }),
    ...forbid(['methods', 'sources', 'destinations'], "'grpc' or 'grpcs'"),
  },
  checks: [
    {
      conditional_at_least_one_of: {
        if_field: 'protocols',
        if_match: { contains: 'grpcs' },
        then_at_least_one_of: ['hosts', 'headers', 'paths', 'snis'],
        then_err: "must set one of %s when 'protocols' is 'grpcs'",
        else_match: { contains: 'grpc' },
        else_then_at_least_one_of: ['hosts', 'headers', 'paths'],
        else_then_err: "must set one of %s when 'protocols' is 'grpc'",
      },
    },
  ],
});

const BY_PROTOCOL: ReadonlyMap<unknown, RecordSchema> = new Map([
  ['http', http],
  ['https', http],
  ['tcp', stream],
  ['tls', stream],
  ['udp', stream],
  ['tls_passthrough', stream],
  ['grpc', grpc],
  ['grpcs', grpc],
]);

export const routes = defineEntity({
  name: 'routes',
  path: 'routes',
  endpointKey: 'name',
  schema: base,
  schemaFor: rulesByProtocol,
  nestedUnder: [{ entity: 'services', field: 'service', path: 'routes' }],
});

function rulesByProtocol(value: Readonly<Record<string, unknown>>): RecordSchema {
  const protocols = value['protocols'] ?? ['http'];
  const known = Array.isArray(protocols) ? protocols.find((protocol) => BY_PROTOCOL.has(protocol)) : undefined;
  return BY_PROTOCOL.get(known) ?? base;
}

function stripPath(options: { readonly default: boolean; readonly ne?: true; readonly err?: string }) {
  return boolean({
    ...options,
    required: true,
    refuses_null: true,
    description: 'Whether the matched part of the path is removed before the request is forwarded.',
  });
}

function addresses(description: string) {
  const address = record(
    {
      ip: ipOrCidr({ description: 'Address, or range in CIDR notation.' }),
      port: port({ description: 'Port.' }),
    },
    { checks: [{ at_least_one_of: ['ip', 'port'] }] },
  );
  return set(address, { description: `${description} ${MATCH_BY_ADDRESS}` });
}

/** These fields must stay unset for routes of these protocols. */
function forbid(names: readonly string[], protocols: string): Record<string, Field> {
  const fields = names.flatMap((name) => {
    const field = base.fields.get(name);
    if (field === undefined) return [];
    const err = `cannot set '${name}' when 'protocols' is ${protocols}`;
    return [[name, mustStayUnset(field, err)] as const];
  });
  return Object.fromEntries(fields);
}

function mustStayUnset(field: Field, err: string): Field {
  return asField(field.value, { ...field.meta, eq: null, err });
}

function headerValueProblem(text: string): string | null {
  if (!text.startsWith('~*')) return null;
  const problem = regexProblem(text.slice(2));
  return problem === null ? null : `invalid regex: '${text.slice(2)}' (PCRE returned: ${problem})`;
}
