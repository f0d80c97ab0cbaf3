/** A Redis server, with Kong's field names: `host`, or the fields of Sentinel or of a cluster. */
export interface RedisOptions {
  readonly host: string | null;
  readonly port: number;
  /** Milliseconds for the connection, and for each command. */
  readonly timeout: number;
  /** Milliseconds for the connection. Default: `timeout`. */
  readonly connect_timeout?: number | null;
  /** Milliseconds for each command; the longer of both times counts. Default: `timeout`. */
  readonly send_timeout?: number | null;
  readonly read_timeout?: number | null;
  readonly username: string | null;
  readonly password: string | null;
  readonly database: number;
  /** TLS, also to Sentinels. */
  readonly ssl: boolean;
  readonly ssl_verify: boolean;
  readonly server_name: string | null;
  /** PEM file of the authorities for `ssl_verify`; null: those built into Node. Default: null. */
  readonly trustedCertificates?: string | null;
  /** Name of the master. */
  readonly sentinel_master?: string | null;
  readonly sentinel_nodes?: readonly { readonly host: string; readonly port: number }[] | null;
  readonly sentinel_username?: string | null;
  readonly sentinel_password?: string | null;
  readonly cluster_nodes?: readonly { readonly ip: string; readonly port: number }[] | null;
  /** Redirections that one command follows. Default: 5. */
  readonly cluster_max_redirections?: number | null;
}

type Unset<T> = { readonly [K in keyof T]: T[K] | null };

/**
 * The Redis server of a configuration. What is null has Kong's default: port 6379, 2000 ms, database 0, no TLS.
 * `settings`: those of the node, whose authorities `ssl_verify` trusts.
 *
 * @example
 * const redis = openRedis(redisOptions(config.redis, tools.settings));
 */
export function redisOptions(
  given: Unset<RedisOptions>,
  settings: { readonly trustedCertificates: string | null } | null = null,
): RedisOptions {
  return {
    host: given.host ?? null,
    port: given.port ?? 6379,
    timeout: given.timeout ?? 2000,
    connect_timeout: given.connect_timeout ?? null,
    send_timeout: given.send_timeout ?? null,
    read_timeout: given.read_timeout ?? null,
    username: given.username ?? null,
    password: given.password ?? null,
    database: given.database ?? 0,
    ssl: given.ssl ?? false,
    ssl_verify: given.ssl_verify ?? false,
    server_name: given.server_name ?? null,
    trustedCertificates: settings?.trustedCertificates ?? null,
    sentinel_master: given.sentinel_master ?? null,
    sentinel_nodes: given.sentinel_nodes ?? null,
    sentinel_username: given.sentinel_username ?? null,
    sentinel_password: given.sentinel_password ?? null,
    cluster_nodes: given.cluster_nodes ?? null,
    cluster_max_redirections: given.cluster_max_redirections ?? null,
  };
}
