import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './file-end.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

/** A message as rsyslogd parsed it. */
export interface RsyslogMessage {
  readonly input: string;
  readonly facility: string;
  readonly severity: string;
  readonly hostname: string;
  readonly program: string;
  readonly text: string;
}

/** A throw-away rsyslogd that receives over UDP and TCP of 127.0.0.1, and on a Unix stream socket. */
export interface TestRsyslogd extends AsyncDisposable {
  /** Port for UDP and TCP. */
  readonly port: number;
  readonly socketPath: string;
  messages(): readonly RsyslogMessage[];
}

const program = ['/usr/sbin/rsyslogd', '/usr/local/sbin/rsyslogd'].find((path) => existsSync(path)) ?? null;

/** Whether rsyslogd is installed (Debian: `rsyslog`). */
export const hasRsyslogd = program !== null;

export async function startRsyslogd(): Promise<TestRsyslogd> {
  const folder = mkdtempSync(join(tmpdir(), 'rsyslogd-'));
  const port = await freePort();
  const [socketPath, out, config] = [join(folder, 'log.sock'), join(folder, 'out'), join(folder, 'conf')];
  writeFileSync(out, '');
  writeFileSync(
    config,
    `global(workDirectory="${folder}" maxMessageSize="64k")
module(load="imudp")
module(load="imtcp")
module(load="imptcp")
template(name="parts" type="string" string="%inputname%|%syslogfacility-text%|%syslogseverity-text%|%hostname%|%programname%|%msg%\\n")
input(type="imudp" port="${port}" address="127.0.0.1")
input(type="imtcp" port="${port}" address="127.0.0.1")
input(type="imptcp" path="${socketPath}")
action(type="omfile" file="${out}" template="parts")
`,
  );
  const daemon = spawn(program ?? 'rsyslogd', ['-n', '-f', config, '-i', join(folder, 'pid')], { stdio: 'ignore' });
  await until(() => existsSync(socketPath));
  return {
    port,
    socketPath,
    messages: () => readFileSync(out, 'utf8').trimEnd().split('\n').filter(Boolean).map(parsed),
    async [Symbol.asyncDispose]() {
      daemon.kill();
      if (daemon.exitCode === null) await once(daemon, 'exit');
      rmSync(folder, { recursive: true });
    },
  };
}

function parsed(line: string): RsyslogMessage {
  const [input = '', facility = '', severity = '', hostname = '', name = '', ...text] = line.split('|');
  return { input, facility, severity, hostname, program: name, text: text.join('|').trim() };
}
