import type { Redis } from 'ioredis';
import type { RedisOptions } from '../../plugin-sdk/redis-options.ts';
import { addressOf, connectionTo, connectRedis, connectTimeoutOf, dropRedis, type RedisEndpoint } from './connect.ts';
import { reasonOf } from './redis-errors.ts';

/**
 * Opens a connection to the current master. All Sentinels are asked at the same time, and the first server that one of
 * them names and that is a master is used: neither a Sentinel that hangs nor one that missed a failover delays it.
 * Rejects after `connect_timeout`.
 */
export async function connectMaster(options: RedisOptions): Promise<Redis> {
  const deadline = performance.now() + connectTimeoutOf(options);
  const masters = new Map<string, Promise<Redis>>();
  const open = async (sentinel: RedisEndpoint): Promise<Redis> => {
    const master = await askFor(sentinel, options);
    const address = addressOf(master);
    let opening = masters.get(address);
    if (opening === undefined) {
      opening = openMaster(master, options, deadline);
      masters.set(address, opening);
    }
    return await opening;
  };
  const attempts = (options.sentinel_nodes ?? []).map(async (sentinel) => {
    try {
      return await open(sentinel);
    } catch (error) {
      throw new Error(`Sentinel ${addressOf(sentinel)}: ${reasonOf(error)}`);
    }
  });
  let chosen: Redis | null = null;
  try {
    chosen = await Promise.any(attempts);
    return chosen;
  } catch (error) {
    const reasons = error instanceof AggregateError ? error.errors.map(reasonOf) : [reasonOf(error)];
    throw new Error(reasons.join('; '));
  } finally {
    for (const attempt of attempts) {
      attempt.then(
        (client) => client !== chosen && dropRedis(client),
        () => {},
      );
    }
  }
}

async function askFor(sentinel: RedisEndpoint, options: RedisOptions): Promise<RedisEndpoint> {
  const name = options.sentinel_master ?? '';
  const answers: RedisEndpoint[] = [];
  const client = await connectRedis(
    {
      ...connectionTo(sentinel, options),
      username: options.sentinel_username ?? null,
      password: options.sentinel_password ?? null,
      database: 0,
    },
    async (connected) => {
      const answer = await connected.call('SENTINEL', 'get-master-addr-by-name', name);
      if (!Array.isArray(answer)) throw new Error(`it does not know the master ${name}`);
      const [host, port] = answer as readonly unknown[];
      answers.push({ host: String(host), port: Number(port) });
    },
  );
  dropRedis(client);
  const [master] = answers;
  if (master === undefined) throw new Error('no answer');
  return master;
}

function openMaster(master: RedisEndpoint, options: RedisOptions, deadline: number): Promise<Redis> {
  const connectTimeout = Math.max(1, Math.ceil(deadline - performance.now()));
  return connectRedis({ ...connectionTo(master, options), connectTimeout }, async (client) => {
    // A master that was replaced while it was down is one again until its Sentinels reach it.
    if ((await roleOf(client)) !== 'master') throw new Error(`${addressOf(master)} is not a master now`);
  });
}

/** A user without the right to ask is not refused here: a replica refuses the first write, and is left then. */
async function roleOf(client: Redis): Promise<string> {
  try {
    const [role] = (await client.call('ROLE')) as readonly unknown[];
    return String(role);
  } catch (error) {
    if (reasonOf(error).startsWith('NOPERM')) return 'master';
    throw error;
  }
}
