import { type TextSender, textSender } from '../../plugin-kit/delivery/index.ts';
import { formatJournalLine, formatLocalLine, journalGreeting, type SyslogEntry, type SyslogSender } from './message.ts';
import type { Receiver } from './receiver.ts';

const defaultSocket = '/dev/log';
const journalSocket = '/run/systemd/journal/stdout';
/** Milliseconds. */
const connectTimeout = 10_000;

interface ProxyEndpoint {
  readonly path: string;
  readonly sender: TextSender;
  format(entry: SyslogEntry): string;
}

/**
 * The daemon of this machine. Node does not support Unix datagram sockets, and `/dev/log` is one with most daemons: then the stream
 * socket of the journal is used, whose daemon receives the same records.
 */
export function localDaemon(socketPath: string | null, from: SyslogSender): Receiver {
  const doors = (socketPath === null ? [defaultSocket, journalSocket] : [socketPath]).map((path) => doorOf(path, from));
  let known: ProxyEndpoint | null = null;
  const close = (): void => {
    for (const { sender } of doors) sender.close();
  };
  return {
    async send(batch, signal) {
      const reasons: string[] = [];
      for (const door of known === null ? doors : [known]) {
        try {
          await door.sender.send(batch.map((entry) => door.format(entry)).join(''), signal);
          known = door;
          return;
        } catch (error) {
          reasons.push(reasonOf(error, door.path));
        }
      }
      // After a restart the machine may have another daemon.
      known = null;
      throw new Error(reasons.join('; '));
    },
    close,
  };
}

function doorOf(path: string, from: SyslogSender): ProxyEndpoint {
  const isJournal = path.endsWith('/systemd/journal/stdout');
  const greeting = isJournal ? { greeting: journalGreeting(from) } : {};
  return {
    path,
    sender: textSender({ to: { path }, tls: null, timeout: connectTimeout, keepalive: 0, ...greeting }),
    format: isJournal ? formatJournalLine : (entry) => formatLocalLine(entry, from),
  };
}

function reasonOf(error: unknown, path: string): string {
  if (error instanceof Error && 'code' in error && error.code === 'EPROTOTYPE') {
    return `${path} takes datagrams only, which Node.js cannot send`;
  }
  return error instanceof Error ? error.message : String(error);
}
