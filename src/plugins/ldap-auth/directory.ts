import { LdapConnection, type LdapServer } from './ldap-connection.ts';
import type { LdapAnswer } from './ldap-messages.ts';

export interface DirectoryOptions {
  readonly server: LdapServer;
  /** Milliseconds for one login, waiting included. */
  readonly timeout: number;
  /** Milliseconds that an idle connection is kept; 0: none is. */
  readonly keepalive: number;
  /** Connections at most. Default 16. */
  readonly maxConnections?: number;
  /** Logins that wait for a connection at most; more are turned away at once. Default 256. */
  readonly maxWaiting?: number;
}

/** The server could not say whether a login is valid. */
export class DirectoryUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DirectoryUnavailable';
  }
}

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Answers that speak of the login; with all others the server, or how it was asked, is at fault. */
const refusals = new Set([
  19, // constraintViolation: too many failures, a password that is over
  32, // noSuchObject
  34, // invalidDNSyntax
  48, // inappropriateAuthentication: the entry has no password
  49, // invalidCredentials
  50, // insufficientAccessRights
  53, // unwillingToPerform: the account is locked
]);

/**
 * Checks logins by binding, over a bounded number of connections. A connection serves one login after the other: each bind
 * stands for itself, whatever came of the one before (RFC 4513, 4).
 */
export class Directory {
  readonly #options: DirectoryOptions;
  readonly #maxConnections: number;
  readonly #maxWaiting: number;
  readonly #idle: { readonly connection: LdapConnection; readonly timer: NodeJS.Timeout }[] = [];
  readonly #waiting = new Set<Waiting>();
  #busy = 0;
  #closed = false;

  constructor(options: DirectoryOptions) {
    this.#options = options;
    this.#maxConnections = options.maxConnections ?? 16;
    this.#maxWaiting = options.maxWaiting ?? 256;
  }

  /** True: the password is that of the entry. Rejects with a `DirectoryUnavailable`, within the time. */
  async verify(name: string, password: Uint8Array): Promise<boolean> {
    const deadline = performance.now() + this.#options.timeout;
    await this.#turn(deadline);
    try {
      return await this.#verify(name, password, deadline);
    } finally {
      this.#next();
    }
  }

  close(): void {
    this.#closed = true;
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
      // The server may have closed the idle connection while the request was on its way.
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
    const forget = (): void => {
      clearTimeout(timer);
      const at = this.#idle.findIndex((one) => one.connection === connection);
      if (at >= 0) this.#idle.splice(at, 1);
    };
    const timer = setTimeout(() => {
      forget();
      connection.close();
    }, keepalive).unref();
    connection.whenEnded(forget);
    this.#idle.push({ connection, timer });
  }

  #takeIdle(): LdapConnection | null {
    const idle = this.#idle.pop();
    if (idle === undefined) return null;
    clearTimeout(idle.timer);
    return idle.connection;
  }

  #turn(deadline: number): Promise<void> {
    if (this.#busy < this.#maxConnections) {
      this.#busy++;
      return Promise.resolve();
    }
    if (this.#waiting.size >= this.#maxWaiting) {
      return Promise.reject(new DirectoryUnavailable('too many logins are waiting'));
    }
    return new Promise((resolve, reject) => {
      const late = (): void => {
        this.#waiting.delete(waiting);
        reject(new DirectoryUnavailable(`no free connection in ${this.#options.timeout} ms`));
      };
      const timer = setTimeout(late, deadline - performance.now());
      const waiting = { resolve, reject, timer };
      this.#waiting.add(waiting);
    });
  }

  /** The turn passes to who waits longest. */
  #next(): void {
    for (const waiting of this.#waiting) {
      this.#waiting.delete(waiting);
      clearTimeout(waiting.timer);
      waiting.resolve();
      return;
    }
    this.#busy--;
  }
}
