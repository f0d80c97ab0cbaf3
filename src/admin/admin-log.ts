/** Where the Admin API writes; the gateway connects it to its log files. */
export interface AdminLog {
  /** One finished request. Must not block. */
  access(entry: AccessEntry): void;
  error(message: string, cause: unknown): void;
}

export interface AccessEntry {
  /** When the request came, in milliseconds since the epoch. */
  readonly time: number;
  readonly requestId: string;
  readonly client: string;
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly httpVersion: string;
  readonly status: number;
  /** Bytes of the answer's body. */
  readonly bytes: number;
  /** How long the answer took, in milliseconds. */
  readonly duration: number;
  readonly referer: string | null;
  readonly userAgent: string | null;
}

export const silentLog: AdminLog = { access: () => {}, error: () => {} };

/** The combined log format, with the request id at the end. */
export function formatAccessLine(entry: AccessEntry): string {
  const request = `${entry.method} ${entry.target} HTTP/${entry.httpVersion}`;
  const fields = [request, String(entry.status), String(entry.bytes)];
  return (
    `${entry.client} - - [${commonTime(entry.time)}] "${escaped(fields[0]!)}" ${fields[1]} ${fields[2]} ` +
    `"${escaped(entry.referer ?? '-')}" "${escaped(entry.userAgent ?? '-')}" request_id: "${entry.requestId}"`
  );
}

/** Nothing that a client sends may end the quotes or the line. */
function escaped(text: string): string {
  return text.replace(
    /["\\\x00-\x1f\x7f-\uffff]/g,
    (c) => `\\x${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function commonTime(milliseconds: number): string {
  const at = new Date(milliseconds);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${two(at.getUTCDate())}/${months[at.getUTCMonth()]}/${at.getUTCFullYear()}`;
  return `${day}:${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())} +0000`;
}
