import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import './file-end.ts';
import { freePort } from './free-port.ts';

/** A throw-away OpenLDAP server on ports of 127.0.0.1, with the users of a test. */
export interface TestSlapd {
  readonly host: string;
  /** Port for LDAP, with StartTLS if the server has a certificate. */
  readonly port: number;
  /** Port for LDAP over TLS; 0 without a certificate. */
  readonly tlsPort: number;
  /** Base entry of the users: `uid=<name>,<base>`. */
  readonly base: string;
  /** Names in the binds that the server received, oldest first, as it parsed them. */
  readonly binds: readonly string[];
  /** Connections with binds since its last start. */
  readonly connections: number;
  /** Changes the directory as its administrator; LDIF. */
  modify(ldif: string): void;
  /** Stops the server at once; its entries stay. */
  kill(): Promise<void>;
  /** Starts the server again on the same ports and entries. */
  restart(): Promise<void>;
  /** The kernel still accepts connections, but the server stops answering until `resume`. */
  hang(): void;
  resume(): void;
  stop(): Promise<void>;
}

export interface TestSlapdOptions {
  /** Passwords by user name. */
  readonly users: Readonly<Record<string, string>>;
  /** PEM files. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** More lines of the configuration, before the database. */
  readonly config?: readonly string[];
}

const suffix = 'dc=example,dc=test';
const base = `ou=people,${suffix}`;
const admin = `cn=admin,${suffix}`;
const adminPassword = 'admin';

/** For the `skip` option of tests, as `skipWithoutPostgres`. */
export function skipWithoutSlapd(): string | false {
  if (findSlapd() !== null && hasClient()) return false;
  const reason = 'needs OpenLDAP: apt-get install slapd ldap-utils';
  if (process.env['CI'] === 'true') throw new Error(reason);
  return reason;
}

export async function startSlapd(options: TestSlapdOptions): Promise<TestSlapd> {
  const binary = findSlapd();
  if (binary === null) throw new Error('needs OpenLDAP: apt-get install slapd ldap-utils');
  const directory = mkdtempSync(join(tmpdir(), 'sluicegate-slapd-'));
  const port = await freePort();
  const tlsPort = options.tls === undefined ? 0 : await freePort();
  const config = join(directory, 'slapd.conf');
  mkdirSync(join(directory, 'data'));
  writeFileSync(config, configuration(directory, options));
  const entries = join(directory, 'entries.ldif');
  writeFileSync(entries, ldif(options.users));
  execFileSync(binary, ['-T', 'add', '-q', '-f', config, '-l', entries], { stdio: 'pipe' });
  const urls = [`ldap://127.0.0.1:${port}`, ...(tlsPort === 0 ? [] : [`ldaps://127.0.0.1:${tlsPort}`])].join(' ');
  const binds: string[] = [];
  const connections = new Set<string>();
  const seen = (line: string): void => {
    const [, connection, name] = / (conn=\d+) op=\d+ BIND dn="(.*)" method=/.exec(line) ?? [];
    if (connection === undefined || name === undefined) return;
    connections.add(connection);
    binds.push(name);
  };
  const start = async (): Promise<ChildProcess> => {
    connections.clear();
    const started = await startServer(binary, config, urls, seen);
    for (const one of [port, tlsPort]) if (one !== 0) await listening(one, started);
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
    host: '127.0.0.1',
    port,
    tlsPort,
    base,
    binds,
    get connections() {
      return connections.size;
    },
    modify: (text) =>
      void execFileSync('ldapmodify', ['-x', '-H', `ldap://127.0.0.1:${port}`, '-D', admin, '-w', adminPassword], {
        input: text,
        stdio: 'pipe',
      }),
    kill,
    restart: async () => {
      server = await start();
    },
    hang: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    stop: async () => {
      process.off('exit', killAtExit);
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Binds without a password succeed, as in some directories, so the gateway must not send them. */
function configuration(directory: string, { tls, config = [] }: TestSlapdOptions): string {
  const lines = [
    ...['core', 'cosine', 'inetorgperson'].map((name) => `include /etc/ldap/schema/${name}.schema`),
    'modulepath /usr/lib/ldap',
    'moduleload back_mdb',
    `pidfile ${join(directory, 'pid')}`,
    'allow bind_anon_cred bind_anon_dn',
    ...(tls === undefined ? [] : [`TLSCertificateFile ${tls.cert}`, `TLSCertificateKeyFile ${tls.key}`]),
    ...config,
    'database mdb',
    'maxsize 10485760',
    `suffix "${suffix}"`,
    `rootdn "${admin}"`,
    `rootpw ${adminPassword}`,
    `directory ${join(directory, 'data')}`,
  ];
  return `${lines.join('\n')}\n`;
}

function ldif(users: Readonly<Record<string, string>>): string {
  const entries = [
    `dn: ${suffix}\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: example`,
    `dn: ${base}\nobjectClass: organizationalUnit\nou: people`,
    ...Object.entries(users).map(([name, password]) => {
      const dn = base64(`uid=${name.replace(/[\\,+"<>;=#]/g, '\\$&')},${base}`);
      return `dn:: ${dn}\nobjectClass: inetOrgPerson\nuid:: ${base64(name)}\ncn: a user\nsn: user\nuserPassword:: ${base64(password)}`;
    }),
  ];
  return `${entries.join('\n\n')}\n`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

async function startServer(
  binary: string,
  config: string,
  urls: string,
  seen: (line: string) => void,
): Promise<ChildProcess> {
  // 256: one line for each operation. With a debug level the server stays in the foreground.
  const server = spawn(binary, ['-d', '256', '-f', config, '-h', urls], { stdio: ['ignore', 'ignore', 'pipe'] });
  const lines: string[] = [];
  const reader = createInterface({ input: server.stderr });
  await new Promise<void>((resolve, reject) => {
    reader.on('line', (line) => {
      lines.push(line);
      seen(line);
      if (line.includes('slapd starting')) resolve();
    });
    reader.once('close', () => reject(new Error(`slapd did not start:\n${lines.join('\n')}`)));
  });
  return server;
}

/** The server logs its start before it listens. */
async function listening(port: number, server: ChildProcess): Promise<void> {
  while (server.exitCode === null) {
    const socket = connect(port, '127.0.0.1');
    const open = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('slapd ended before it listened');
}

/** Debian installs it outside of a user's PATH. */
function findSlapd(): string | null {
  const folders = ['/usr/sbin', '/usr/local/libexec', ...(process.env['PATH'] ?? '').split(':')];
  return folders.map((folder) => join(folder, 'slapd')).find((path) => existsSync(path)) ?? null;
}

function hasClient(): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, 'ldapmodify')));
}
