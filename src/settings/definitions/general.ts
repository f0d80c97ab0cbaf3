import { boolean, list, oneOf, string } from '../kinds.ts';
import { accessLogTarget, bearerToken, logTarget, pluginNames, uuid, workers } from '../special-kinds.ts';
import { kong, own } from './definition.ts';

export const logLevels = ['debug', 'info', 'notice', 'warn', 'error', 'crit', 'alert', 'emerg'] as const;

export const general = {
  prefix: kong(
    string,
    '.sluicegate',
    'The directory where the node keeps its store, certificates, logs and pid file. A relative path starts at the current directory. It is created when missing, for its owner alone.',
  ),
  nginx_worker_processes: kong(
    workers,
    'auto',
    'How many worker threads carry the traffic; `auto` is one for each core.',
    { aliases: ['workers', 'nginx_main_worker_processes'] },
  ),
  plugins: kong(
    pluginNames,
    'bundled',
    'The plugins that can be used. `bundled` stands for all that come with the gateway, `off` for none.',
  ),
  node_id: kong(uuid, '', 'A fixed id of this node. Without it the node makes one at its first start and keeps it.'),
  role: kong(
    oneOf(['traditional'], {
      control_plane: 'hybrid mode is not supported',
      data_plane: 'hybrid mode is not supported',
    }),
    'traditional',
    'Every node is both control plane and data plane.',
  ),
  router_flavor: kong(
    oneOf(['traditional_compatible', 'traditional']),
    'traditional_compatible',
    'The rules by which routes match. Both values mean the same: hosts, paths, methods, headers, SNIs.',
  ),
  vaults: kong(
    list,
    'bundled',
    'Accepted for compatibility; references to environment variables always work in settings.',
  ),
  log_level: kong(oneOf(logLevels), 'notice', 'The least severe level that is written to the error logs.'),
  log_format: own(
    oneOf(['auto', 'json', 'text']),
    'auto',
    'Form of the error logs. `auto` is readable text on a terminal and JSON elsewhere.',
  ),
  proxy_access_log: kong(
    accessLogTarget,
    'logs/access.log',
    'Where one line for each proxied request goes, and in which format: `kong_log_format` (where none is named), `combined`, `json`, or that of `nginx_http_log_format`.',
  ),
  proxy_error_log: kong(logTarget, '/dev/stderr', 'Where the workers write what goes wrong.'),
  proxy_stream_access_log: kong(
    accessLogTarget,
    'logs/access.log basic',
    'Where one line for each stream goes, and in which format: `basic`, `json`, or that of `nginx_stream_log_format`.',
  ),
  admin_access_log: kong(
    accessLogTarget,
    'logs/admin_access.log',
    'Where one line for each request to the Admin API goes, and in which format.',
  ),
  status_access_log: kong(
    accessLogTarget,
    'off',
    'Where one line for each request to the status API goes, and in which format.',
  ),
  admin_error_log: kong(logTarget, '/dev/stderr', 'Where the node itself writes what goes wrong.'),
  admin_token: own(
    bearerToken,
    '',
    'When set, the Admin API asks for `Authorization: Bearer <token>`. Set it whenever the Admin API can be reached from other machines.',
    { secret: true },
  ),
  hash_keys: own(
    boolean,
    'off',
    'Store API keys as hashes. The clear key is shown once, in the answer to its creation; keys made before go on to work, and are hashed when they are next written.',
  ),
} as const;
