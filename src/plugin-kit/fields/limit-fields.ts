import { host, port, sni, timeout } from '../../shared/schema/common-fields.ts';
import type { EntityCheck } from '../../shared/schema/entity-checks.ts';
import type { Field, FieldOptions } from '../../shared/schema/field-meta.ts';
import { boolean, integer, number, type Presence, type Shorthand, string } from '../../shared/schema/fields.ts';
import { record } from '../../shared/schema/record.ts';
import { parseRate } from '../../shared/util/time/rate.ts';

/* Fields that the plugins with limits have in common, with Kong's names, defaults and messages. */

/** A rate such as `10r/s`, read with `parseRate`. */
export function rate<const O extends FieldOptions>(options: O): Field<Presence<string, O>> {
  const custom = (text: string): string | null =>
    parseRate(text) === null ? 'must be a rate such as 10r/s or 300r/m' : null;
  return string({ custom, ...options }) as Field<Presence<string, O>>;
}

const periods = ['second', 'minute', 'hour', 'day', 'month', 'year'] as const;

/** One limit for each period; `what` begins their descriptions: `Requests`. */
export function windowFields(what: string) {
  const limit = (period: string) => number({ gt: 0, description: `${what} per ${period}.` });
  return {
    second: limit('second'),
    minute: limit('minute'),
    hour: limit('hour'),
    day: limit('day'),
    month: limit('month'),
    year: limit('year'),
  };
}

/** What is wrong when a longer period has a lower limit than a shorter one; null: nothing. */
export function windowOrderProblem(limits: Readonly<Record<string, unknown>>): string | null {
  for (const [at, shorter] of periods.entries()) {
    const less = limits[shorter];
    if (typeof less !== 'number') continue;
    for (const longer of periods.slice(at + 1)) {
      const more = limits[longer];
      if (typeof more !== 'number' || more >= less) continue;
      const [high, low] = [less.toFixed(1), more.toFixed(1)];
      return `The limit for ${longer}(${low}) cannot be lower than the limit for ${shorter}(${high})`;
    }
  }
  return null;
}

/** A Redis server. */
export function redisServer() {
  return record(
    {
      host: host({ description: 'Host name or IP address of the server.' }),
      port: port({ default: 6379, description: 'Port of the server.' }),
      timeout: timeout({ default: 2000, description: 'Timeout of connecting, and of each command.' }),
      username: string({ referenceable: true, description: 'User name (ACL); needs Redis 6 or later.' }),
      password: string({
        referenceable: true,
        encrypted: true,
        len_min: 0,
        description: 'Password of the server or the user.',
      }),
      database: integer({ default: 0, description: 'Number of the database.' }),
      ssl: boolean({ default: false, description: 'Connects with TLS.' }),
      ssl_verify: boolean({ default: false, description: "Verifies the server's certificate." }),
      server_name: sni({ description: 'Server name (SNI) in the TLS handshake. Default: `host`.' }),
    },
    { description: 'The Redis server.' },
  );
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

/** The policy `redis` needs a server. */
export const redisChecks: readonly EntityCheck[] = ['host', 'port', 'timeout'].map((name) => ({
  conditional: {
    if_field: 'config.policy',
    if_match: { eq: 'redis' },
    then_field: `config.redis.${name}`,
    then_match: { required: true },
  },
}));
