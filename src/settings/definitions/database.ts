import { boolean, duration, integer, oneOf, optionalString, string } from '../kinds.ts';
import { kong } from './definition.ts';

export const database = {
  database: kong(
    oneOf(['sqlite', 'postgres'], {
      off: 'running without a database is not supported; sqlite needs nothing beside the gateway',
      cassandra: 'Cassandra is not supported',
    }),
    'sqlite',
    'Where the configuration is stored: `sqlite` is a file under the prefix, `postgres` is shared by several nodes.',
  ),
  pg_host: kong(string, '127.0.0.1', 'Host of the PostgreSQL server.'),
  pg_port: kong(integer(1, 65535), '5432', 'Port of the PostgreSQL server.'),
  pg_user: kong(string, 'kong', 'User that the gateway logs in as.'),
  pg_password: kong(optionalString, '', 'Password of that user.', { secret: true }),
  pg_database: kong(string, 'kong', 'Name of the database.'),
  pg_schema: kong(optionalString, '', 'Schema of the tables; empty is the default of the user.'),
  pg_ssl: kong(boolean, 'off', 'Reach PostgreSQL by TLS.'),
  pg_ssl_verify: kong(boolean, 'off', 'Check the certificate of the PostgreSQL server.'),
  pg_timeout: kong(duration('ms'), '5000', 'How long a connection or query may take.'),
  pg_pool_size: kong(integer(1, 1000), '10', 'Most connections that the node opens.'),
} as const;
