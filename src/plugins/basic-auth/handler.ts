import { authAccess } from '../../plugin-kit/auth/index.ts';
import { clientGroup } from '../../plugin-kit/runtime/index.ts';
import type { AccessContext, ConsumerView, PluginPhases, PluginTools, Reply } from '../../plugin-sdk/index.ts';
import { refuse } from '../../plugin-sdk/index.ts';
import { type BasicCredentials, basicCredentials, basicHeaders } from './basic-credentials.ts';
import { type CheckResult, releaseHashPool, takeHashPool } from './hash-pool.ts';
import { PasswordChecks } from './password-checks.ts';
import type { BasicAuthConfig } from './schema.ts';
import { fileUsers, storedUsers, type User, type UserSource } from './user-sources.ts';

type Outcome = Reply | undefined;

export function authenticateByPassword(config: BasicAuthConfig, tools: PluginTools): PluginPhases {
  const { credentials_file: file } = config;
  const users = file === null ? storedUsers(tools) : fileUsers(file, config.consumer_by_username, tools);
  const logins = new Logins(config, users, () => tools.count('busy_refusals'));
  const authenticate = authAccess(tools, {
    anonymous: config.anonymous,
    attempt: (context) => logins.attempt(context),
  });
  const hide = ({ request, upstream }: AccessContext): void => {
    if (!config.hide_credentials) return;
    for (const name of basicHeaders(request)) upstream.removeHeader(name);
  };
  return {
    access(context) {
      hide(context);
      return authenticate(context);
    },
    accessSkipped: hide,
    dispose() {
      users.close();
      releaseHashPool();
    },
  };
}

class Logins {
  readonly #users: UserSource;
  readonly #checks: PasswordChecks;
  readonly #refusal: Reply;
  readonly #busy = refuse(503, 'Service temporarily unavailable', { 'Retry-After': '1' });
  readonly #countBusy: () => void;

  constructor(config: BasicAuthConfig, users: UserSource, countBusy: () => void) {
    const realm = config.realm.replace(/["\\]/g, '\\$&').replace(/[\0-\x1f\x7f]/g, '');
    this.#refusal = refuse(401, 'Unauthorized', { 'WWW-Authenticate': `Basic realm="${realm}"` });
    this.#users = users;
    this.#checks = new PasswordChecks(takeHashPool(), config.cache_ttl * 1000);
    this.#countBusy = countBusy;
  }

  attempt(context: AccessContext): Outcome | Promise<Outcome> {
    const login = basicCredentials(context.request);
    if (login === null) return this.#refusal;
    const user = this.#users.find(login.user, context.client.ip);
    return user instanceof Promise
      ? user.then((found) => this.#check(context, login, found))
      : this.#check(context, login, user);
  }

  #check(context: AccessContext, login: BasicCredentials, user: User): Outcome | Promise<Outcome> {
    const { account, decoy } = user;
    const client = clientGroup(context.client.ip);
    const result = this.#checks.check({ ...login, account, decoy, client });
    if (!(result instanceof Promise)) return this.#settle(context, user, result);
    return result.then((settled) =>
      settled === true ? this.#stillValid(context, login, user) : this.#settle(context, user, settled),
    );
  }

  /** The password was valid when the check began; it may have changed while the check waited. */
  async #stillValid(context: AccessContext, login: BasicCredentials, before: User): Promise<Outcome> {
    const user = await this.#users.find(login.user, context.client.ip);
    const same = user.account !== null && user.account.hash.text === before.account?.hash.text;
    return this.#settle(context, user, same && user.account?.consumerId === before.account?.consumerId);
  }

  #settle(context: AccessContext, user: User, result: CheckResult): Outcome | Promise<Outcome> {
    if (result === 'busy') {
      this.#countBusy();
      return this.#busy;
    }
    if (!result) return this.#refusal;
    const consumer = this.#users.consumer(user, context.client.ip);
    return consumer instanceof Promise
      ? consumer.then((found) => this.#goOn(context, user, found))
      : this.#goOn(context, user, consumer);
  }

  #goOn(context: AccessContext, user: User, consumer: ConsumerView | null | undefined): Outcome {
    if (consumer === undefined) return this.#refusal;
    context.authenticate(consumer, user.credential);
    return undefined;
  }
}
