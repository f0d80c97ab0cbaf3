import { array } from '../schema/collections.ts';
import {
  autoId,
  createdAt,
  entityName,
  host,
  PROTOCOLS,
  path,
  port,
  tags,
  timeout,
  updatedAt,
  uuid,
} from '../schema/common-fields.ts';
import type { EntityCheck } from '../schema/entity-checks.ts';
import { boolean, integer, type Shorthand, string } from '../schema/fields.ts';
import { splitUrl } from '../schema/formats.ts';
import { foreign, record } from '../schema/record.ts';
import { defineEntity } from './define-entity.ts';

const DEFAULT_TIMEOUT = 60_000;

/** The field must stay unset unless the service speaks TLS to its backend. */
function onlyWithTls(field: string): EntityCheck {
  return {
    conditional: {
      if_field: 'protocol',
      if_match: { not_one_of: ['https', 'tls', 'grpcs'] },
      then_field: field,
      then_match: { eq: null },
    },
  };
}

const url: Shorthand = {
  field: string({
    pattern: '^[a-z_]+://[^/?#]+',
    description: 'Sets `protocol`, `host`, `port` and `path` at once.',
  }),
  expand: expandUrl,
};

const schema = record(
  {
    id: autoId(),
    created_at: createdAt(),
    updated_at: updatedAt(),
    name: entityName({ description: 'Name of the service.' }),
    retries: integer({
      required: true,
      default: 5,
      between: [0, 32767],
      description: 'How often a failed attempt to reach the backend is repeated.',
    }),
    protocol: string({
      required: true,
      default: 'http',
      refuses_null: true,
      one_of: PROTOCOLS,
      description: 'Protocol spoken to the backend.',
    }),
    host: host({ required: true, description: 'Host of the backend, or the name of an upstream.' }),
    port: port({ required: true, default: 80, refuses_null: true, description: 'Port of the backend.' }),
    path: path({ description: 'Path that is put before the path of each request.' }),
    connect_timeout: timeout({
      required: true,
      default: DEFAULT_TIMEOUT,
      description: 'How long connecting to the backend may take.',
    }),
    write_timeout: timeout({
      required: true,
      default: DEFAULT_TIMEOUT,
      description: 'How long the backend may take between two reads of the request.',
    }),
    read_timeout: timeout({
      required: true,
      default: DEFAULT_TIMEOUT,
      description: 'How long the backend may pause while it answers.',
    }),
    tags: tags(),
    client_certificate: foreign('certificates', { description: 'Certificate shown to the backend.' }),
    tls_verify: boolean({ description: "Whether the backend's certificate is verified; unset: the node's setting." }),
    tls_verify_depth: integer({
      between: [0, 64],
      description:
        "Maximum number of certificates between the backend's and the authority's. Unset: the node's setting.",
    }),
    ca_certificates: array(uuid(), { description: "Authorities that may sign the backend's certificate." }),
    enabled: boolean({
      required: true,
      default: true,
      refuses_null: true,
      description: 'A disabled service has no routes in the data plane.',
    }),
  },
  {
    shorthands: { url },
    checks: [
      {
        conditional: {
          if_field: 'protocol',
          if_match: { one_of: ['tcp', 'tls', 'udp', 'grpc', 'grpcs'] },
          then_field: 'path',
          then_match: { eq: null },
        },
      },
      onlyWithTls('client_certificate'),
      onlyWithTls('tls_verify'),
      onlyWithTls('tls_verify_depth'),
      onlyWithTls('ca_certificates'),
    ],
  },
);

export const services = defineEntity({
  name: 'services',
  path: 'services',
  endpointKey: 'name',
  schema,
  nestedUnder: [{ entity: 'certificates', field: 'client_certificate', path: 'services' }],
});

/** Missing parts become null, so that their fields report it. */
function expandUrl(text: string): Readonly<Record<string, unknown>> {
  const { scheme, host: hostname, port: portText, path: pathname } = splitUrl(text);
  const protocol = scheme ?? (portText === '443' ? 'https' : 'http');
  const given = portText !== null && /^[0-9]+$/.test(portText) ? Number(portText) : portText;
  return { protocol, host: hostname, port: given ?? (protocol === 'https' ? 443 : 80), path: pathname };
}
