/** Where the Admin API writes; the gateway connects it to its log files. */
export interface AdminLog {
  /** One finished request to the Admin API. Must not block. */
  access(entry: AccessEntry): void;
  /** The same of the status API. */
  statusAccess(entry: AccessEntry): void;
  error(message: string, cause: unknown): void;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** The data of one line of an admin access log. Texts are as they were received, one character for each byte. */
export interface AccessEntry {
  readonly remoteAddr: string;
  readonly remotePort: number;
  readonly localAddr: string;
  readonly localPort: number;
  readonly scheme: 'http' | 'https';
  /** When the request arrived, in milliseconds since the epoch, and how long it took. */
  readonly time: number;
  readonly duration: number;
  readonly method: string;
  /** Path and query; secrets in the path are replaced. */
  readonly url: string;
  readonly httpVersion: string;
  readonly status: number;
  readonly bodyBytesSent: number;
  readonly requestId: string;
  /** First value of a header of the request or the answer, name in lower case; null: there is no such header. */
  header(name: string): string | null;
  sentHeader(name: string): string | null;
}
