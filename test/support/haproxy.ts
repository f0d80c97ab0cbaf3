import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectOutput } from '../../src/cli/testing/process-output.ts';
import './file-end.ts';
import { until } from './until.ts';

/** HAProxy in front of nodes: HTTP on port 80 of its address, TLS passed on as TCP on port 443. */
export interface TestHaproxy extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly tlsPort: number;
  /** The names of the servers that pass their health check, for HTTP and for TLS. */
  up(): Promise<{ readonly http: readonly string[]; readonly tls: readonly string[] }>;
  /** Resolves when exactly these servers are up. */
  settled(names: readonly string[]): Promise<void>;
}

export interface BalancedNode {
  readonly name: string;
  readonly host: string;
  readonly proxyPort: number;
  readonly tlsPort: number;
  readonly statusPort: number;
}

/** For the `skip` option of tests, as `skipWithoutRedis`. */
export function skipWithoutHaproxy(): string | false {
  if (findHaproxy() !== null) return false;
  const reason = 'needs HAProxy: apt-get install haproxy';
  if (process.env['CI'] === 'true') throw new Error(reason);
  return reason;
}

/** Milliseconds between two health checks; a server is down after two of them that failed. */
export const checkInterval = 100;

/** The settings of docs/deploy/several-nodes.md, with shorter intervals. `host`: an address of 127.0.0.0/8 of its own. */
export async function startHaproxy(host: string, nodes: readonly BalancedNode[]): Promise<TestHaproxy> {
  const binary = findHaproxy();
  if (binary === null) throw new Error('needs HAProxy: apt-get install haproxy');
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-haproxy-'));
  const [port, tlsPort] = [8000, 8443];
  const stats = join(folder, 'stats.sock');
  const servers = (of: 'proxyPort' | 'tlsPort'): string =>
    nodes.map((node) => `  server ${node.name} ${node.host}:${node[of]} port ${node.statusPort}`).join('\n');
  const config = `
global
  stats socket ${stats} level admin
  maxconn 2000

defaults
  timeout connect 2s
  timeout client 75s
  timeout server 75s
  timeout tunnel 1h
  option httpchk GET /status/ready
  default-server check inter ${checkInterval}ms fall 2 rise 1

frontend http
  mode http
  bind ${host}:${port}
  default_backend http_nodes

backend http_nodes
  mode http
  balance leastconn
${servers('proxyPort')}

frontend tls
  mode tcp
  bind ${host}:${tlsPort}
  default_backend tls_nodes

backend tls_nodes
  mode tcp
  balance leastconn
${servers('tlsPort')}
`;
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, config);
  const child: ChildProcess = spawn(binary, ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  const { output } = collectOutput(child);
  const closed = once(child, 'close');
  const killAtExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  const up: TestHaproxy['up'] = async () => {
    const lines = (await ask(stats, 'show stat')).split('\n').map((line) => line.split(','));
    const of = (backend: string): readonly string[] =>
      lines.flatMap((line) =>
        line[0] === backend && line[1] !== 'BACKEND' && line[17]?.startsWith('UP') ? [line[1] ?? ''] : [],
      );
    return { http: of('http_nodes'), tls: of('tls_nodes') };
  };
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`HAProxy ended:\n${output()}`);
    return existsSync(stats) && (await ask(stats, 'show info').catch(() => '')) !== '';
  });
  return {
    host,
    port,
    tlsPort,
    up,
    async settled(names) {
      const wanted = [...names].sort().join();
      await until(async () => {
        const { http, tls } = await up();
        return [...http].sort().join() === wanted && [...tls].sort().join() === wanted;
      }, 10_000);
    },
    async [Symbol.asyncDispose]() {
      process.off('exit', killAtExit);
      child.kill('SIGKILL');
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One command of HAProxy's Runtime API. */
async function ask(path: string, command: string): Promise<string> {
  const socket = connect(path).setEncoding('utf8');
  let answer = '';
  socket.on('data', (text) => {
    answer += text;
  });
  socket.end(`${command}\n`);
  await once(socket, 'close');
  return answer;
}

function findHaproxy(): string | null {
  const known = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy', '/usr/bin/haproxy'].find((path) => existsSync(path));
  if (known !== undefined) return known;
  try {
    return execFileSync('which', ['haproxy'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}
