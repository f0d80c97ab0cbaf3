import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import './file-end.ts';

/** A throw-away DNS server (dnsmasq) on a port of 127.0.0.1, which serves the given names below `.test`. */
export interface TestDnsServer {
  readonly ip: string;
  readonly port: number;
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** Queries since the start, in order: `A a.test`. */
  readonly questions: readonly string[];
  /** Replaces the lines of the hosts file; they are active when this returns. */
  setHosts(lines: readonly string[]): Promise<void>;
  /** Stops the server at once. */
  kill(): Promise<void>;
  /** Starts it again on the same port. */
  restart(): Promise<void>;
  /** The server stops answering until `resume`. */
  hang(): void;
  resume(): void;
  stop(): Promise<void>;
}

export interface TestDnsOptions {
  /** Lines of a hosts file: `10.0.0.1 a.test`. */
  readonly hosts?: readonly string[];
  /** Options of dnsmasq without the dashes: `srv-host=_http._tcp.a.test,b.test,8080,1,0`. */
  readonly records?: readonly string[];
  /** TTL in seconds for records without one. Default 60. */
  readonly ttl?: number;
}

const program = 'dnsmasq';

/** For the `skip` option of tests, as `skipWithoutRedis`. */
export function skipWithoutDnsServer(): string | false {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore', env: environment() });
    return false;
  } catch {
    const reason = 'needs dnsmasq: apt-get install dnsmasq-base';
    if (process.env['CI'] === 'true') throw new Error(reason);
    return reason;
  }
}

export async function startDnsServer(options: TestDnsOptions = {}): Promise<TestDnsServer> {
  const directory = mkdtempSync(join(tmpdir(), 'sluicegate-dns-'));
  const hosts = join(directory, 'hosts');
  const config = join(directory, 'dnsmasq.conf');
  writeFileSync(hosts, lines(options.hosts ?? []));
  writeFileSync(config, lines(configuration(hosts, options)));
  const questions: string[] = [];
  let running = await startAnywhere(config, questions);
  const { port } = running;
  const killAtExit = (): void => void running.server.kill('SIGKILL');
  process.once('exit', killAtExit);
  const kill = async (): Promise<void> => {
    const { server } = running;
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill('SIGKILL');
    await exited;
  };
  return {
    ip: '127.0.0.1',
    port,
    address: `127.0.0.1:${port}`,
    questions,
    kill,
    restart: async () => {
      running = await startServer(config, port, questions);
    },
    setHosts: async (hostLines) => {
      writeFileSync(hosts, lines(hostLines));
      const read = running.nextRead();
      running.server.kill('SIGHUP');
      await read;
    },
    hang: () => void running.server.kill('SIGSTOP'),
    resume: () => void running.server.kill('SIGCONT'),
    stop: async () => {
      process.off('exit', killAtExit);
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function configuration(hosts: string, { records = [], ttl = 60 }: TestDnsOptions): readonly string[] {
  return [
    'keep-in-foreground',
    'bind-interfaces',
    'listen-address=127.0.0.1',
    'no-resolv',
    'no-hosts',
    'local=/test/',
    `user=${userInfo().username}`,
    'pid-file=',
    'log-facility=-',
    'log-queries',
    `local-ttl=${ttl}`,
    `addn-hosts=${hosts}`,
    ...records,
  ];
}

interface Running {
  readonly server: ChildProcess;
  readonly port: number;
  /** Resolves when the hosts file has been read again. */
  nextRead(): Promise<void>;
}

/** Another process may take the free port first. */
async function startAnywhere(config: string, questions: string[]): Promise<Running> {
  for (let tries = 1; ; tries++) {
    try {
      return await startServer(config, await freePort(), questions);
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
}

async function startServer(config: string, port: number, questions: string[]): Promise<Running> {
  const server = spawn(program, ['-C', config, '-p', String(port)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: environment(),
  });
  const started = Promise.withResolvers<void>();
  const said: string[] = [];
  let reads: (() => void)[] = [];
  createInterface({ input: server.stderr }).on('line', (line) => {
    const question = /query\[(\w+)\] (\S+) from/.exec(line);
    if (question !== null) questions.push(`${question[1]} ${question[2]}`);
    else said.push(line);
    if (!/: read .*hosts/.test(line)) return;
    started.resolve();
    for (const read of reads) read();
    reads = [];
  });
  server.once('error', started.reject);
  server.once('exit', () => started.reject(new Error(`dnsmasq did not start:\n${said.join('\n')}`)));
  await started.promise;
  return { server, port, nextRead: () => new Promise((resolve) => reads.push(resolve)) };
}

/** Debian installs it in /usr/sbin, which is not in the PATH of users. */
function environment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin` };
}

function lines(list: readonly string[]): string {
  return list.map((line) => `${line}\n`).join('');
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return address.port;
}
