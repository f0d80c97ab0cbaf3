import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type ProbeRun, type ProbeTarget, type ProbeTls, watch } from './probe.ts';

/** Opens a connection for the probe, with TLS if needed; `ready` receives it. */
export function openConnection(
  run: ProbeRun,
  target: ProbeTarget,
  protocols: readonly string[],
  ready: (socket: Socket) => void,
): void {
  run.step('no connection was made');
  const socket = connect({ host: target.ip, port: target.port, noDelay: true });
  run.cleanup(() => socket.destroy());
  watch(run, socket);
  socket.once('connect', () => {
    if (run.settled) return;
    if (target.tls === null) ready(socket);
    else secure(run, socket, target.tls, protocols, ready);
  });
}

function secure(
  run: ProbeRun,
  socket: Socket,
  { name, verify, ca, client }: ProbeTls,
  protocols: readonly string[],
  ready: (socket: Socket) => void,
): void {
  run.step('the TLS handshake did not end');
  // Node verifies a certificate against `host` where no name can be sent as SNI.
  const names = isIP(name) === 0 ? { servername: name, host: name } : { host: name };
  let secured: Socket;
  try {
    secured = connectTls({
      socket,
      ...names,
      rejectUnauthorized: verify,
      ...(protocols.length === 0 ? {} : { ALPNProtocols: [...protocols] }),
      ...(ca === null ? {} : { ca }),
      ...(client === null ? {} : client),
    });
  } catch (error) {
    // A certificate that does not fit its key.
    run.failed(error as Error);
    return;
  }
  run.cleanup(() => secured.destroy());
  watch(run, secured);
  secured.once('secureConnect', () => {
    if (!run.settled) ready(secured);
  });
}
