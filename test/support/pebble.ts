import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import './file-end.ts';
import { freePort } from './free-port.ts';
import { selfSigned } from './self-signed.ts';
import { until } from './until.ts';

/** A throw-away ACME server (Pebble) on ports of 127.0.0.1. It keeps everything in memory, so a restart loses it. */
export interface TestPebble {
  /** URL of the directory. */
  readonly directory: string;
  /** PEM file of the server's own certificate. */
  readonly trusted: string;
  /** Log lines since the start. */
  readonly lines: readonly string[];
  /** PEM of the authority of the issued certificates. */
  root(): Promise<string>;
  /** Stops the server at once. */
  kill(): Promise<void>;
  /** Starts it again on the same ports, with empty memory. */
  restart(): Promise<void>;
  /** The kernel still accepts connections, but the server stops answering until `resume`. */
  hang(): void;
  resume(): void;
  stop(): Promise<void>;
}

export interface TestPebbleOptions {
  /** Files of the server's own certificate, from `pebbleIdentity`. */
  readonly identity: PebbleIdentity;
  /** Ports of 127.0.0.1 where it validates challenges, instead of 80 and 443. */
  readonly httpPort: number;
  readonly tlsPort: number;
  /** `127.0.0.1:port` of its DNS server. */
  readonly dns: string;
  /** Percentage of valid nonces that are refused, and of valid authorizations that are reused. Default 0. */
  readonly refusedNonces?: number;
  readonly reusedAuthorizations?: number;
  /** Keys of external accounts, in base64url; other accounts are refused. Default: all accounts are accepted. */
  readonly boundAccounts?: Readonly<Record<string, string>>;
  /** Number of alternate chains. Default 0. */
  readonly alternateRoots?: number;
  /** Lifetime of the certificates, in seconds. Default: five years, as in Pebble. */
  readonly validity?: number;
}

/** Files that must exist before the gateway starts, which starts before the server. */
export interface PebbleIdentity {
  readonly directory: string;
  readonly cert: string;
  readonly key: string;
}

/** For the `skip` option of tests, as `skipWithoutRedis`. */
export function skipWithoutPebble(): string | false {
  try {
    execFileSync('pebble', ['-h'], { stdio: 'ignore' });
    return false;
  } catch (error) {
    // `-h` exits with 0 or 2; both mean that it is installed.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return false;
    const reason = 'needs Pebble: apt-get install pebble';
    if (process.env['CI'] === 'true') throw new Error(reason);
    return reason;
  }
}

export function pebbleIdentity(): PebbleIdentity {
  const directory = mkdtempSync(join(tmpdir(), 'sluicegate-pebble-'));
  const { cert, key } = selfSigned('localhost');
  const files = { directory, cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key);
  return files;
}

export async function startPebble(options: TestPebbleOptions): Promise<TestPebble> {
  const { identity } = options;
  const [port, managementPort] = [await freePort(), await freePort()];
  const config = join(identity.directory, 'pebble.json');
  writeFileSync(config, JSON.stringify({ pebble: configuration(options, port, managementPort) }));
  const lines: string[] = [];
  const directory = `https://localhost:${port}/dir`;
  const start = async (): Promise<ChildProcess> => {
    const started = await startServer(config, options, lines);
    // It logs that it listens before it does.
    await until(() => read(directory, identity.cert).then(Boolean, () => false));
    return started;
  };
  let server = await start();
  const killAtExit = (): void => void server.kill('SIGKILL');
  process.once('exit', killAtExit);
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill('SIGKILL');
    await exited;
  };
  return {
    directory,
    trusted: identity.cert,
    lines,
    root: () => read(`https://localhost:${managementPort}/roots/0`, identity.cert),
    kill,
    restart: async () => {
      server = await start();
    },
    hang: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    stop: async () => {
      process.off('exit', killAtExit);
      await kill();
      rmSync(identity.directory, { recursive: true, force: true });
    },
  };
}

function configuration(options: TestPebbleOptions, port: number, managementPort: number): object {
  const { identity, httpPort, tlsPort, boundAccounts, validity } = options;
  return {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: identity.cert,
    privateKey: identity.key,
    httpPort,
    tlsPort,
    ocspResponderURL: '',
    externalAccountBindingRequired: boundAccounts !== undefined,
    ...(boundAccounts === undefined ? {} : { externalAccountMACKeys: boundAccounts }),
    ...(validity === undefined ? {} : { certificateValidityPeriod: validity }),
  };
}

async function startServer(config: string, options: TestPebbleOptions, lines: string[]): Promise<ChildProcess> {
  const server = spawn('pebble', ['-config', config, '-dnsserver', options.dns], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      PEBBLE_VA_NOSLEEP: '1',
      PEBBLE_WFE_NONCEREJECT: String(options.refusedNonces ?? 0),
      PEBBLE_AUTHZREUSE: String(options.reusedAuthorizations ?? 0),
      PEBBLE_ALTERNATE_ROOTS: String(options.alternateRoots ?? 0),
    },
  });
  await new Promise<void>((resolve, reject) => {
    for (const output of [server.stdout, server.stderr]) {
      createInterface({ input: output }).on('line', (line) => {
        lines.push(line);
        if (line.includes('ACME directory available')) resolve();
      });
    }
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`Pebble did not start:\n${lines.join('\n')}`)));
  });
  return server;
}

async function read(url: string, trusted: string): Promise<string> {
  const call = request(url, { ca: readFileSync(trusted) });
  call.end();
  const [answer] = await once(call, 'response');
  let text = '';
  for await (const piece of answer) text += piece;
  return text;
}
