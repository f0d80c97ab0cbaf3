import { array } from '../../shared/schema/collections.ts';
import { host, port, sni, timeout } from '../../shared/schema/common-fields.ts';
import type { EntityCheck } from '../../shared/schema/entity-checks.ts';
import type { Field } from '../../shared/schema/field-meta.ts';
import { boolean, integer, type Shorthand, string } from '../../shared/schema/fields.ts';
import { record } from '../../shared/schema/record.ts';

/* Where Redis is: Kong's fields of one server, and Kong Enterprise's of Sentinel and clusters. */

/** A Redis server, read with `redisOptions`. */
export function redisServer() {
  return record(
    {
      host: host({ description: 'Host name or IP address of the server. Not used with Sentinel or a cluster.' }),
      port: port({ default: 6379, description: 'Port of the server.' }),
      timeout: timeout({ default: 2000, description: 'Timeout of connecting, and of each command.' }),
      username: string({ referenceable: true, description: 'User name (ACL); needs Redis 6 or later.' }),
      password: string({
        referenceable: true,
        encrypted: true,
        len_min: 0,
        description: 'Password of the server or the user.',
      }),
      database: integer({ default: 0, description: 'Number of the database. A cluster has only 0.' }),
      ssl: boolean({ default: false, description: 'Connects with TLS, also to Sentinels and the nodes of a cluster.' }),
      ssl_verify: boolean({
        default: false,
        description:
          "Verifies the server's certificate, with the authorities of `lua_ssl_trusted_certificate`, or the well-known ones without that setting.",
      }),
      server_name: sni({
        description: 'Server name (SNI) in the TLS handshake, and the name that is verified. Default: the host.',
      }),
      connect_timeout: timeout({ description: 'Timeout of connecting. Default: `timeout`.' }),
      send_timeout: timeout({
        description:
          'Timeout of each command: the longer of `send_timeout` and `read_timeout`. Default of both: `timeout`.',
      }),
      read_timeout: timeout({ description: 'See `send_timeout`.' }),
      sentinel_master: string({ description: 'With Sentinel: name of the master.' }),
      sentinel_role: string({
        one_of: ['master', 'slave', 'any'],
        description: 'With Sentinel: `master` or `any`, which both mean the master. `slave` is refused.',
      }),
      sentinel_nodes: array(
        record({
          host: host({ required: true, default: '127.0.0.1', description: 'Host name or IP address.' }),
          port: port({ required: true, default: 6379, description: 'Port.' }),
        }),
        { len_min: 1, description: 'The Sentinels. One that answers is enough.' },
      ),
      sentinel_username: string({ referenceable: true, description: 'User name (ACL) of the Sentinels.' }),
      sentinel_password: string({
        referenceable: true,
        encrypted: true,
        len_min: 0,
        description: 'Password of the Sentinels.',
      }),
      cluster_nodes: array(
        record({
          ip: host({ required: true, default: '127.0.0.1', description: 'Host name or IP address.' }),
          port: port({ required: true, default: 6379, description: 'Port.' }),
        }),
        { len_min: 1, description: 'Nodes of a Redis Cluster. One that answers is enough: it names the others.' },
      ),
      cluster_max_redirections: integer({
        default: 5,
        between: [0, 100],
        description: 'With a cluster: how many redirections one command follows.',
      }),
    },
    {
      description: 'The Redis server: `host`, or Sentinels, or a cluster.',
      checks: [
        { mutually_required: ['sentinel_master', 'sentinel_role', 'sentinel_nodes'] },
        { mutually_exclusive: ['sentinel_nodes', 'cluster_nodes'] },
        { custom_entity_check: { field_sources: ['sentinel_role', 'cluster_nodes', 'database'], fn: serverProblem } },
      ],
    },
  );
}

function serverProblem(given: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> | null {
  if (given['sentinel_role'] === 'slave')
    return { sentinel_role: 'must be master or any: a replica accepts no writes' };
  if (given['cluster_nodes'] != null && (given['database'] ?? 0) !== 0) {
    return { database: 'must be 0 with cluster_nodes' };
  }
  return null;
}

/** The deprecated flat names of `redis.*`, for the `shorthands` of a configuration. */
export function redisShorthands(): Readonly<Record<string, Shorthand>> {
  const types: Readonly<Record<string, Field>> = {
    host: string(),
    port: integer(),
    password: string({ len_min: 0 }),
    username: string(),
    ssl: boolean(),
    ssl_verify: boolean(),
    server_name: string(),
    timeout: integer(),
    database: integer(),
  };
  return Object.fromEntries(
    Object.entries(types).map(([name, field]) => [`redis_${name}`, { field, replacedWith: ['redis', name] }]),
  );
}

/** A field with the value `redis` needs a server in `config.redis`. */
export function redisChecksFor(field: string): readonly EntityCheck[] {
  return ['host', 'port', 'timeout'].map((name) => ({
    conditional: {
      if_field: field,
      if_match: { eq: 'redis' },
      then_field: `config.redis.${name}`,
      then_match: { required: true },
      unless: namesOtherServers,
    },
  }));
}

/** The policy `redis` needs a server. */
export const redisChecks: readonly EntityCheck[] = redisChecksFor('config.policy');

function namesOtherServers({ config }: Readonly<Record<string, unknown>>): boolean {
  const redis = (config as { readonly redis?: Readonly<Record<string, unknown>> | null } | undefined)?.redis;
  return redis?.['sentinel_nodes'] != null || redis?.['cluster_nodes'] != null;
}
