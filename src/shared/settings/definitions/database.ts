import { boolean, duration, integer, oneOf, optionalString, string } from '../kinds/kinds.ts';
import { kong, own } from './definition.ts';

export const database = {
  database: kong(
    oneOf(['sqlite', 'postgres', 'off'], { cassandra: 'Cassandra is not supported' }),
    'sqlite',
    'Where the configuration is stored: `sqlite` is a file in the prefix, `postgres` is a server that several nodes share. With `off` it comes from a declarative document, and the Admin API refuses all other writes.',
  ),
  declarative_config: kong(
    optionalString,
    '',
    'File with the declarative configuration, for `database = off`: YAML, JSON, or TypeScript that exports it (docs/config-typescript.md). It is read at start and on reload.',
  ),
  declarative_config_string: kong(optionalString, '', 'The declarative configuration itself, instead of a file.', {
    secret: true,
  }),
  declarative_config_watch: own(boolean, 'off', 'Read the file of `declarative_config` again whenever it changes.'),
  pg_host: kong(string, '127.0.0.1', 'Host of the PostgreSQL server.'),
  pg_port: kong(integer(1, 65535), '5432', 'Port of the PostgreSQL server.'),
  pg_user: kong(string, 'kong', 'User that the gateway logs in as.'),
  pg_password: kong(optionalString, '', 'Password of that user.', { secret: true }),
  pg_database: kong(string, 'kong', 'Name of the database.'),
  pg_schema: kong(optionalString, '', 'Schema of the tables; empty is the default of the user.'),
  pg_ssl: kong(boolean, 'off', 'Connect to PostgreSQL with TLS.'),
  pg_ssl_verify: kong(boolean, 'off', 'Verify the certificate of the PostgreSQL server.'),
  pg_timeout: kong(duration('ms'), '5000', 'Timeout of a connection or query.'),
  last_good_wait: own(
    duration('s'),
    '10s',
    'How long a node that starts with its copy of the last good config, because PostgreSQL or its control planes do not answer, reports that it is not ready. It is ready earlier when it has the current config.',
  ),
  pg_pool_size: kong(integer(1, 1000), '10', 'Maximum number of connections that the node opens.'),
} as const;
