/** An admin user as the commands show it. */
export interface ShownUser {
  readonly name: string;
  readonly role: string;
  readonly tag_patterns: readonly string[] | null;
  readonly certificate_name: string | null;
  readonly tokens: readonly ShownToken[];
}

export interface ShownToken {
  readonly id: string;
  readonly name: string;
  readonly token_prefix: string;
  /** ISO 8601, to the minute. */
  readonly last_used_at: string | null;
  /** Seconds since the epoch; null: never. */
  readonly expires_at: number | null;
}

export interface NewUser {
  readonly name: string;
  readonly role: string;
  readonly tag_patterns: readonly string[] | null;
  readonly certificate_name: string | null;
}

export interface NewToken {
  readonly name: string | null;
  /** Seconds; null: it never expires. */
  readonly ttl: number | null;
}

/** Where admin users are: behind the Admin API of a node, or in its store. Methods reject with an error of one line. */
export interface UserDirectory {
  list(): Promise<readonly ShownUser[]>;
  /** Creates the user, and returns its token. Null: without one, unless it is the first user. */
  create(user: NewUser, withToken: boolean): Promise<string | null>;
  /** Creates a token of a user, and returns it. */
  issue(user: string, token: NewToken): Promise<string>;
  /** `token`: its name or id. */
  revoke(user: string, token: string): Promise<void>;
  delete(user: string): Promise<void>;
  close(): Promise<void>;
}
