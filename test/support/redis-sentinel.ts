import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { spawnUntil, startRedis, type TestRedis, type TestRedisOptions } from './redis.ts';
import { until } from './until.ts';

/** A master with one replica, and a Sentinel that replaces the master 0.3 s after its last answer. */
export interface TestSentinel {
  /** The name of the master. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** The first master, and the replica. */
  readonly servers: readonly [TestRedis, TestRedis];
  /** Port of the current master, as the Sentinel says. */
  masterPort(): number;
  stop(): Promise<void>;
}

/** `password`: of the Sentinel itself. */
export async function startSentinel(
  options: TestRedisOptions & { readonly password?: string } = {},
): Promise<TestSentinel> {
  const name = 'counters';
  const tls = options.tls === undefined ? [] : ['--tls-replication', 'yes'];
  const extra = [...tls, '--repl-diskless-sync-delay', '0', ...(options.arguments ?? [])];
  const master = await startRedis({ ...options, arguments: extra });
  const replica = await startRedis({
    ...options,
    arguments: [...extra, '--replicaof', master.host, String(master.port)],
  });
  await until(() => replica.command('INFO', 'replication').includes('master_link_status:up'), 20_000);
  const directory = mkdtempSync(join(tmpdir(), 'sluicegate-sentinel-'));
  const port = await freePort();
  writeFileSync(join(directory, 'sentinel.conf'), configOf(name, port, master, options));
  const server = await spawnUntil('redis-server', ['sentinel.conf', '--sentinel'], directory, '+monitor');
  const killAtExit = (): void => void server.kill('SIGKILL');
  process.once('exit', killAtExit);
  const words = ['-p', String(port), ...(options.tls === undefined ? [] : ['--tls', '--insecure'])];
  const secret = options.password === undefined ? [] : ['-a', options.password, '--no-auth-warning'];
  const ask = (...command: string[]): string =>
    execFileSync('redis-cli', [...words, ...secret, ...command], { encoding: 'utf8', stdio: 'pipe' }).trim();
  // Without the replica it could promote none.
  await until(() => ask('SENTINEL', 'replicas', name).includes(String(replica.port)), 20_000);
  return {
    name,
    host: '127.0.0.1',
    port,
    servers: [master, replica],
    masterPort: () => Number(ask('SENTINEL', 'get-master-addr-by-name', name).split('\n')[1]),
    stop: async () => {
      process.off('exit', killAtExit);
      const exited = once(server, 'exit');
      server.kill('SIGKILL');
      await exited;
      await master.stop();
      await replica.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function configOf(
  name: string,
  port: number,
  master: TestRedis,
  { tls, password }: TestRedisOptions & { readonly password?: string },
): string {
  const listen =
    tls === undefined
      ? [`port ${port}`]
      : [
          'port 0',
          `tls-port ${port}`,
          'tls-auth-clients no',
          'tls-replication yes',
          `tls-cert-file ${tls.cert}`,
          `tls-key-file ${tls.key}`,
          `tls-ca-cert-file ${tls.ca ?? tls.cert}`,
        ];
  const lines = [
    ...listen,
    'bind 127.0.0.1',
    ...(password === undefined ? [] : [`requirepass ${password}`]),
    `sentinel monitor ${name} ${master.host} ${master.port} 1`,
    `sentinel down-after-milliseconds ${name} 300`,
    `sentinel failover-timeout ${name} 1000`,
  ];
  return `${lines.join('\n')}\n`;
}
