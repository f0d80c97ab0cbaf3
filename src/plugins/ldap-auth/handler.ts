import { readFileSync } from 'node:fs';
import { authAccess } from '../../plugin-kit/auth/index.ts';
import { OutageLog } from '../../plugin-kit/logging/index.ts';
import { clientGroup } from '../../plugin-kit/runtime/index.ts';
import { type AccessContext, type PluginPhases, type PluginTools, type Reply, refuse } from '../../plugin-sdk/index.ts';
import { Directory } from './directory.ts';
import { escapeDnValue } from './distinguished-name.ts';
import type { LdapServer } from './ldap-connection.ts';
import { credentialsOf, decodeLogin, hasScheme } from './login.ts';
import type { LdapAuthConfig } from './schema.ts';
import { VerifiedLogins } from './verified-logins.ts';

const longest = 2 ** 31 - 1;
const fields = ['authorization', 'proxy-authorization'] as const;

/** Authenticates with an LDAP directory. */
export function authenticateByLdap(config: LdapAuthConfig, tools: PluginTools): PluginPhases {
  const logins = new DirectoryLogins(config, tools);
  const authenticate = authAccess(tools, {
    anonymous: config.anonymous,
    attempt: (context) => logins.attempt(context),
  });
  return {
    access(context) {
      logins.hide(context);
      return authenticate(context);
    },
    accessSkipped: (context) => logins.hide(context),
    dispose: () => logins.close(),
  };
}

class DirectoryLogins {
  readonly #config: LdapAuthConfig;
  readonly #tools: PluginTools;
  readonly #directory: Directory;
  readonly #verified: VerifiedLogins;
  readonly #checks = new Map<string, Promise<string | null>>();
  readonly #scheme: string;
  readonly #refusal: Reply;
  readonly #outage: OutageLog;
  readonly #unavailable = refuse(503, 'Service temporarily unavailable');

  constructor(config: LdapAuthConfig, tools: PluginTools) {
    const type = config.header_type ?? 'ldap';
    const challenge = type.toLowerCase() === 'ldap' ? 'LDAP' : type;
    const realm = config.realm === null ? '' : ` realm="${config.realm.replace(/["\\]/g, '\\$&')}"`;
    this.#config = config;
    this.#tools = tools;
    this.#scheme = type.toLowerCase();
    this.#outage = new OutageLog(tools.log, 'the LDAP server is unavailable');
    this.#refusal = refuse(401, 'Unauthorized', { 'WWW-Authenticate': challenge + realm });
    this.#verified = new VerifiedLogins(config.cache_ttl * 1000);
    this.#directory = new Directory({
      server: serverOf(config, tools),
      timeout: milliseconds(config.timeout ?? 10_000, 1),
      keepalive: milliseconds(config.keepalive ?? 60_000, 0),
    });
  }

  attempt(context: AccessContext): Reply | undefined | Promise<Reply | undefined> {
    const { request } = context;
    const proxy = credentialsOf(request.headerValues('proxy-authorization'), this.#scheme);
    const own = credentialsOf(request.headerValues('authorization'), this.#scheme);
    const first = proxy ?? own;
    if (first === null) return this.#refusal;
    const username = this.#verified.usernameOf(this.#verified.keyOf(first));
    if (username !== null) return this.#accept(context, username);
    return this.#authenticate(context, first, proxy === null ? null : own);
  }

  /** Whatever the outcome, the backend must not receive the login. */
  hide({ request, upstream }: AccessContext): void {
    if (!this.#config.hide_credentials) return;
    for (const name of fields) {
      const values = request.headerValues(name);
      if (values.some((value) => hasScheme(value, this.#scheme))) upstream.removeHeader(name);
    }
  }

  close(): void {
    this.#directory.close();
  }

  async #authenticate(context: AccessContext, first: string, second: string | null): Promise<Reply | undefined> {
    try {
      const client = clientGroup(context.client.ip);
      const username =
        (await this.#check(first, client)) ?? (second === null ? null : await this.#check(second, client));
      return username === null ? this.#refusal : this.#accept(context, username);
    } catch (error) {
      this.#failed(error);
      return this.#unavailable;
    }
  }

  #failed(error: unknown): void {
    this.#tools.count('ldap_failures');
    const { ldap_host: host, ldap_port: port } = this.#config;
    this.#outage.failed(error, { server: `${host}:${port}` });
  }

  /** The user name, or null when the login is wrong. Concurrent requests of a client with the same login share one check. */
  #check(credentials: string, client: string): Promise<string | null> {
    const key = this.#verified.keyOf(credentials);
    const pendingKey = `${key}${client}`;
    const pending = this.#checks.get(pendingKey);
    if (pending !== undefined) return pending;
    const check = this.#verify(key, credentials, client).finally(() => this.#checks.delete(pendingKey));
    this.#checks.set(pendingKey, check);
    return check;
  }

  async #verify(key: string, credentials: string, client: string): Promise<string | null> {
    const known = this.#verified.usernameOf(key);
    if (known !== null) return known;
    const login = decodeLogin(credentials);
    if (login === null) return null;
    const { attribute, base_dn: base } = this.#config;
    const name = `${attribute}=${escapeDnValue(login.username)},${base}`;
    if (!(await this.#directory.verify(name, login.password, client))) return null;
    this.#verified.add(key, login.username);
    return login.username;
  }

  #accept(context: AccessContext, username: string): undefined {
    context.authenticate(null, { id: null, identifier: username });
    if (!this.#config.hide_credentials) return;
    context.upstream.removeHeader('authorization');
    context.upstream.removeHeader('proxy-authorization');
  }
}

function serverOf(config: LdapAuthConfig, { settings }: PluginTools): LdapServer {
  const tls = config.ldaps ? 'from-the-start' : config.start_tls ? 'start-tls' : 'none';
  const verify = tls !== 'none' && config.verify_ldap_host;
  const { trustedCertificates: file } = settings;
  const authorities = verify && file !== null ? readFileSync(file, 'utf8') : null;
  return { host: config.ldap_host, port: config.ldap_port, tls, verify, authorities };
}

/** Maximum delay of a timer. */
function milliseconds(value: number, least: number): number {
  return Math.min(Math.max(value, least), longest);
}
