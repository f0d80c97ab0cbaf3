import { type FacilityName, facilities, severities } from './codes.ts';

/** A record to send. */
export interface SyslogEntry {
  readonly severity: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** One line. */
  readonly text: string;
}

/** The sender in messages. */
export interface SyslogSender {
  readonly facility: FacilityName;
  readonly hostname: string;
  readonly pid: number;
}

/** Kong's app name, which rules of collectors match. */
const ident = 'kong';

/** A message by RFC 5424. `hostname` is printable ASCII. */
export function formatMessage(
  { severity, time, text }: SyslogEntry,
  { facility, hostname, pid }: SyslogSender,
): string {
  const priority = facilities[facility] * 8 + severity;
  return `<${priority}>1 ${new Date(time).toISOString()} ${hostname} ${ident} ${pid} - - ${text}`;
}

/** With its length as a prefix (RFC 6587, 3.4.1; RFC 5425, 4.3), for messages on a connection. */
export function formatFrame(entry: SyslogEntry, sender: SyslogSender): string {
  const message = formatMessage(entry, sender);
  return `${Buffer.byteLength(message)} ${message}`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A line as the C library writes it to a local daemon: local time, no host (RFC 3164 describes this format). */
export function formatLocalLine({ severity, time, text }: SyslogEntry, { facility, pid }: SyslogSender): string {
  const date = new Date(time);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${months[date.getMonth()]} ${String(date.getDate()).padStart(2)}`;
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return `<${facilities[facility] * 8 + severity}>${day} ${clock} ${ident}[${pid}]: ${text}\n`;
}

/**
 * The header of a stream to the journal (sd_journal_stream_fd(3)): identifier, unit, priority with the facility, flag for lines with
 * a severity prefix, and no forwarding to other logs.
 */
export function journalGreeting({ facility }: SyslogSender): string {
  return `${ident}\n\n${facilities[facility] * 8 + 6}\n1\n0\n0\n0\n`;
}

export function formatJournalLine({ severity, text }: SyslogEntry): string {
  return `<${severity}>${text}\n`;
}

/** Maximum bytes of a message without its text. */
export function overheadOf(from: SyslogSender): number {
  const longest: SyslogEntry = { severity: severities.debug, time: Date.now(), text: '' };
  const sender: SyslogSender = { ...from, facility: 'local7' };
  return Math.max(formatMessage(longest, sender).length, formatLocalLine(longest, sender).length);
}

/** As much of the text as fits, without cutting a character. */
export function cutText(text: string, maxBytes: number): string {
  // No character of UTF-16 has more than three bytes.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

/** The name as RFC 5424 has it: printable ASCII without spaces, 255 characters at most; `-` for none. */
export function syslogHostname(hostname: string): string {
  return hostname.replace(/[^\x21-\x7e]/g, '?').slice(0, 255) || '-';
}
