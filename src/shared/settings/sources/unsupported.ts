/**
 * Settings of Kong that have no effect here: they tune nginx, Lua or parts that work differently. They are
 * accepted, with a warning, so that an existing deployment starts unchanged.
 */
const names: ReadonlySet<string> = new Set([
  'anonymous_reports',
  'proxy_server',
  'proxy_server_ssl_verify',
  'error_template_html',
  'error_template_json',
  'error_template_xml',
  'error_template_plain',
  'request_debug',
  'request_debug_token',
  'mem_cache_size',
  'worker_consistency',
  'worker_state_update_frequency',
  'untrusted_lua_sandbox_requires',
  'untrusted_lua_sandbox_environment',
  'dedicated_config_processing',
  'pluginserver_names',
  'vault_env_prefix',
  'resolver_mem_cache_size',
  'ssl_dhparam',
  'ssl_session_cache_size',
  'opentelemetry_tracing',
  'proxy_stream_error_log',
  'pg_max_concurrent_queries',
  'pg_semaphore_timeout',
  'pg_keepalive_timeout',
  'pg_backlog',
  'pg_ssl_cert',
  'pg_ssl_cert_key',
  'pg_ssl_version',
  'pg_ssl_required',
]);

const prefixes = [
  'nginx_',
  'lua_',
  'pg_ro_',
  'cluster_',
  'admin_gui_',
  'status_',
  'stream_',
  'debug_',
  'db_',
  'lmdb_',
  'wasm',
  'pluginserver_',
  'privileged_agent',
  'portal_',
  'enforce_rbac',
  'vault_',
] as const;

/** True when the name is a setting of Kong without an effect. */
export function isMeaningless(name: string): boolean {
  return names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}
