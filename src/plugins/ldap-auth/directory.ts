import { FairQueue, overloaded } from '../../plugin-kit/runtime/index.ts';
import { LdapConnection, type LdapServer } from './ldap-connection.ts';
import type { LdapAnswer } from './ldap-messages.ts';

export interface DirectoryOptions {
  readonly server: LdapServer;
  /** Milliseconds for one login, waiting included. */
  readonly timeout: number;
  /** Milliseconds that an idle connection is kept; 0: not at all. */
  readonly keepalive: number;
}

/** One client gets at most half of the connections, so that its slow logins leave room for others. */
const maxConnections = 16;
/** Maximum queued logins; further ones are refused at once. */
const maxWaiting = 512;

/** The server could not verify the login. */
export class DirectoryUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DirectoryUnavailable';
  }
}

/** Result codes about the login; all others mean a problem of the server or the request. */
const refusals = new Set([
  19, // constraintViolation: too many failures, an expired password
  32, // noSuchObject
  34, // invalidDNSyntax
  48, // inappropriateAuthentication: the entry has no password
  49, // invalidCredentials
  50, // insufficientAccessRights
  53, // unwillingToPerform: the account is locked
]);

/**
 * Checks logins by binding, over a bounded number of connections. A connection serves one login after the other: each bind
 * is independent of the one before (RFC 4513, 4).
 */
export class Directory {
  readonly #options: DirectoryOptions;
  readonly #idle: { readonly connection: LdapConnection; readonly timer: NodeJS.Timeout }[] = [];
  readonly #queue: FairQueue;
  #closed = false;

  constructor(options: DirectoryOptions) {
    this.#options = options;
    this.#queue = new FairQueue({
      concurrency: maxConnections,
      concurrencyPerGroup: maxConnections / 2,
      maxWaiting,
      maxWait: options.timeout,
    });
  }

  /**
   * True: the password matches the entry. Rejects with a `DirectoryUnavailable` within the timeout. `client`: its group, see
   * `clientGroup`.
   */
  async verify(name: string, password: Uint8Array, client: string): Promise<boolean> {
    const deadline = performance.now() + this.#options.timeout;
    const result = await this.#queue.run(client, () => this.#verify(name, password, deadline));
    if (result === overloaded) throw new DirectoryUnavailable('too many logins are waiting');
    return result;
  }

  close(): void {
    this.#closed = true;
    this.#queue.close();
    for (const { connection, timer } of this.#idle.splice(0)) {
      clearTimeout(timer);
      connection.close();
    }
  }

  async #verify(name: string, password: Uint8Array, deadline: number): Promise<boolean> {
    const idle = this.#takeIdle();
    if (idle !== null) {
      const answer = await this.#bind(idle, name, password, deadline).catch((error: Error) => error);
      if (!(answer instanceof Error)) return this.#verdict(idle, answer);
      // The server may have closed the idle connection while the request was in flight.
      if (performance.now() >= deadline) throw new DirectoryUnavailable(answer.message, { cause: answer });
    }
    const connection = new LdapConnection(this.#options.server);
    try {
      return this.#verdict(connection, await this.#bind(connection, name, password, deadline));
    } catch (error) {
      if (error instanceof DirectoryUnavailable) throw error;
      throw new DirectoryUnavailable(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  async #bind(connection: LdapConnection, name: string, password: Uint8Array, deadline: number): Promise<LdapAnswer> {
    const { timeout } = this.#options;
    const left = Math.max(0, deadline - performance.now());
    const timer = setTimeout(() => connection.destroy(new Error(`no answer in ${timeout} ms`)), left);
    try {
      await connection.ready;
      return await connection.bind(name, password);
    } finally {
      clearTimeout(timer);
    }
  }

  #verdict(connection: LdapConnection, { resultCode, diagnostic }: LdapAnswer): boolean {
    if (resultCode === 0 || refusals.has(resultCode)) {
      this.#keep(connection);
      return resultCode === 0;
    }
    connection.close();
    throw new DirectoryUnavailable(`the server does not take binds (${resultCode}) ${diagnostic}`.trim());
  }

  #keep(connection: LdapConnection): void {
    const { keepalive } = this.#options;
    if (this.#closed || keepalive === 0 || !connection.usable) {
      connection.close();
      return;
    }
    const discard = (): void => {
      clearTimeout(timer);
      const at = this.#idle.findIndex((one) => one.connection === connection);
      if (at >= 0) this.#idle.splice(at, 1);
    };
    const timer = setTimeout(() => {
      discard();
      connection.close();
    }, keepalive).unref();
    connection.whenEnded(discard);
    this.#idle.push({ connection, timer });
  }

  #takeIdle(): LdapConnection | null {
    const idle = this.#idle.pop();
    if (idle === undefined) return null;
    clearTimeout(idle.timer);
    return idle.connection;
  }
}
