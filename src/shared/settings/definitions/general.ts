import { boolean, list, oneOf, string } from '../kinds/kinds.ts';
import {
  accessLogTarget,
  bearerToken,
  logTarget,
  pluginNames,
  pluginPins,
  uuid,
  workers,
} from '../kinds/special-kinds.ts';
import { kong, own } from './definition.ts';

export const logLevels = ['debug', 'info', 'notice', 'warn', 'error', 'crit', 'alert', 'emerg'] as const;

export const general = {
  prefix: kong(
    string,
    '.sluicegate',
    'Directory of the node: store, certificates, logs and pid file. A relative path starts at the current directory. The directory is created if missing, for its owner alone.',
  ),
  nginx_worker_processes: kong(
    workers,
    'auto',
    'Number of worker threads, which carry the traffic. `auto`: one for each core.',
    { aliases: ['workers', 'nginx_main_worker_processes'] },
  ),
  plugins: kong(
    pluginNames,
    'bundled',
    'Plugins that can be used: `bundled` (all that come with the gateway), names, paths and npm packages; `off` for none. A relative path starts at the folder of the file that sets it, or at the current directory.',
  ),
  plugins_integrity: own(
    pluginPins,
    '',
    'Hashes of the files of plugins, by their entries in `plugins`: `./my-policy=sha512-...`. A node with other files does not start. `sluicegate plugin integrity` prints them (docs/plugin-trust.md).',
  ),
  untrusted_lua: kong(
    oneOf(['off', 'sandbox', 'on']),
    'off',
    'Where the functions of `pre-function` and `post-function` run; they are JavaScript (docs/plugin-functions.md). `off`: nowhere, and configurations of these plugins are refused. `sandbox`: without Node, files and network. `on`: like any code of the gateway, so who can write the config can do what the gateway can do.',
    { aliases: ['untrusted_functions'] },
  ),
  node_id: kong(uuid, '', 'Fixed id of this node. Without it, the node generates one at its first start and keeps it.'),
  role: kong(
    oneOf(['traditional', 'control_plane', 'data_plane']),
    'traditional',
    'What the node does. `traditional`: everything. `control_plane`: it has the database and the Admin API, and no traffic. `data_plane`: it has the traffic, and everything else comes from a control plane (docs/deploy/hybrid.md).',
  ),
  router_flavor: kong(
    oneOf(['traditional_compatible', 'traditional']),
    'traditional_compatible',
    'Rules by which routes match. Both values mean the same: hosts, paths, methods, headers, SNIs.',
  ),
  vaults: kong(
    list,
    'bundled',
    'Accepted for compatibility. References to environment variables always work in settings.',
  ),
  log_level: kong(oneOf(logLevels), 'notice', 'Least severe level that is written to the error logs.'),
  log_format: own(
    oneOf(['auto', 'json', 'text']),
    'auto',
    'Format of the error logs. `auto`: text on a terminal, JSON elsewhere.',
  ),
  proxy_access_log: kong(
    accessLogTarget,
    'logs/access.log',
    'Access log of proxied requests: the destination and the format. Formats: `kong_log_format` (the default), `combined`, `json`, or the one of `nginx_http_log_format`.',
  ),
  proxy_error_log: kong(logTarget, '/dev/stderr', 'Error log of the workers.'),
  proxy_stream_access_log: kong(
    accessLogTarget,
    'logs/access.log basic',
    'Access log of streams: the destination and the format. Formats: `basic`, `json`, or the one of `nginx_stream_log_format`.',
  ),
  admin_access_log: kong(
    accessLogTarget,
    'logs/admin_access.log',
    'Access log of the Admin API: the destination and the format.',
  ),
  status_access_log: kong(accessLogTarget, 'off', 'Access log of the status API: the destination and the format.'),
  admin_error_log: kong(logTarget, '/dev/stderr', 'Error log of the node itself.'),
  admin_token: own(
    bearerToken,
    '',
    'Token of the Admin API that works without the database and has all rights. If set, every request needs it or the token of an admin user, as `Authorization: Bearer <token>` or `Kong-Admin-Token: <token>`.',
    { secret: true },
  ),
  admin_auth: own(
    oneOf(['auto', 'on']),
    'auto',
    'Whether requests to the Admin API must sign in, those from loopback too. `auto`: when `admin_token` is set or an admin user exists. `on`: always.',
  ),
  hash_keys: own(
    boolean,
    'off',
    'Store API keys as hashes. The key is shown once, in the answer that creates it. Existing keys keep working, and are hashed when they are next written.',
  ),
} as const;
