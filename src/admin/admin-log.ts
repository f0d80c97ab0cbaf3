/** Where the Admin API writes; the gateway connects it to its log files. */
export interface AdminLog {
  /** One finished request. Must not block. */
  access(entry: AccessEntry): void;
  error(message: string, cause: unknown): void;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** What one line of the admin access log tells. Texts are as they came from outside. */
export interface AccessEntry {
  readonly remoteAddr: string;
  /** Always null: a token names nobody. */
  readonly remoteUser: null;
  /** When the request came, in milliseconds since the epoch. */
  readonly time: number;
  /** Request line as it came. */
  readonly request: string;
  readonly status: number;
  readonly bodyBytesSent: number;
  readonly referer: string | null;
  readonly userAgent: string | null;
  readonly requestId: string;
}
