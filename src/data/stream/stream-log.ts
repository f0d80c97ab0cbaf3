import { hostname } from 'node:os';
import { compileFormat, type Formatter, type Variable } from '../../shared/logs/access-log.ts';
import { isoTime, localTime, seconds } from '../../shared/logs/log-times.ts';
import type { LogFormat } from '../../shared/settings/kinds/log-format.ts';
import { isStreamVariable, type StreamVariable } from '../../shared/settings/kinds/log-variables.ts';
import { utf8AsLatin1 } from '../../shared/util/bytes/latin1.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import type { Session } from './session.ts';

/** Writes the line of a stream that has ended. */
export function streamFormatter(format: LogFormat): Formatter<Session> {
  return compileFormat(format, { variable });
}

type Read = (session: Session) => string | null;

const clean = (read: Read): Variable<Session> => ({ read, clean: true });
const named = (read: Read): Variable<Session> => ({
  read: (session) => {
    const name = read(session);
    return name === null ? null : utf8AsLatin1(name);
  },
});

const host = hostname();
const pid = String(process.pid);
const serverName: Variable<Session> = { read: ({ serverName: name }) => (name === '' ? null : name) };

/** The line is written when the stream ends, so that its time is the end. */
const variables: Readonly<Record<StreamVariable, Variable<Session>>> = {
  bytes_received: clean(({ bytesReceived }) => `${bytesReceived}`),
  bytes_sent: clean(({ bytesSent }) => `${bytesSent}`),
  hostname: { read: () => host },
  msec: clean(() => seconds(Date.now())),
  pid: clean(() => pid),
  protocol: clean(({ transport }) => (transport === 'udp' ? 'UDP' : 'TCP')),
  remote_addr: clean(({ client }) => client.ip),
  remote_port: clean(({ client }) => `${client.port}`),
  route: named(({ route }) => route?.name ?? route?.id ?? null),
  route_id: clean(({ route }) => route?.id ?? null),
  route_name: named(({ route }) => route?.name ?? null),
  server_addr: clean(({ localIp }) => localIp),
  server_port: clean(({ localPort }) => `${localPort}`),
  service: named(({ service }) => service?.name ?? service?.id ?? null),
  service_id: clean(({ service }) => service?.id ?? null),
  service_name: named(({ service }) => service?.name ?? null),
  session_time: clean(({ startedMono }) => seconds(monotonic() - startedMono)),
  ssl_cipher: { read: ({ tls }) => tls?.cipher ?? null },
  ssl_preread_server_name: serverName,
  ssl_protocol: { read: ({ tls }) => tls?.version ?? null },
  ssl_server_name: serverName,
  status: clean(({ status }) => `${status}`),
  time_iso8601: clean(() => isoTime(Date.now())),
  time_local: clean(() => localTime(Date.now())),
  upstream_addr: clean(({ attempts }) => {
    if (attempts === null) return null;
    return attempts.map(({ ip, port }) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)).join(', ');
  }),
  upstream_bytes_received: clean(({ upstreamReceived }) => `${upstreamReceived}`),
  upstream_bytes_sent: clean(({ upstreamSent }) => `${upstreamSent}`),
};

function variable(name: string): Variable<Session> {
  if (!isStreamVariable(name)) throw new Error(`there is no variable $${name}`);
  return variables[name];
}
