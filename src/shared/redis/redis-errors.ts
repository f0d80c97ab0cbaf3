/** The server does not answer, or refuses. The message says which server and why, without secrets. */
export class RedisUnavailable extends Error {
  override readonly name = 'RedisUnavailable';
}

/**
 * An error that the server answered; the connection is intact, and nothing was executed. Without a `cause`: the client's
 * errors carry the command that failed, and AUTH carries the password.
 */
export class RedisRefusal extends Error {
  override readonly name = 'RedisRefusal';
  /** First word of the answer: `NOSCRIPT`. */
  readonly code: string;

  constructor(message: string) {
    super(message);
    this.code = message.split(' ', 1)[0] ?? '';
  }
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
