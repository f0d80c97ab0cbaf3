import { localTime } from '../observability/log-times.ts';
import { monotonic } from '../util/clock.ts';
import type { Session } from './session.ts';

/**
 * One line in Kong's format `basic` of streams: address, time, protocol, status, bytes to and from the client, and how long it
 * lasted in seconds. Addresses are the only text from outside, and were read as such.
 */
export function formatStreamLine(session: Session): string {
  const { client, transport, status, bytesSent, bytesReceived, startedMono } = session;
  const seconds = ((monotonic() - startedMono) / 1000).toFixed(3);
  const protocol = transport === 'udp' ? 'UDP' : 'TCP';
  return `${client.ip} [${localTime(Date.now())}] ${protocol} ${status} ${bytesSent} ${bytesReceived} ${seconds}`;
}
