import { credentialView } from '../../plugin-kit/auth/index.ts';
import type { ConsumerView, CredentialView, EntityRow, PluginTools } from '../../plugin-sdk/index.ts';
import { consumerView, foreignIdOf } from '../../plugin-sdk/index.ts';
import type { PasswordFileContent } from './parse-password-file.ts';
import type { Account } from './password-checks.ts';
import { PasswordFile } from './password-file.ts';
import { parsePasswordHash } from './password-hash.ts';
import { unmatchableScrypt } from './scrypt-hash.ts';

type Awaitable<T> = T | Promise<T>;

/** A user, as the plugin processes it. */
export interface User {
  /** Null: no user has this name. */
  readonly account: Account | null;
  /** See `PasswordAttempt`. */
  readonly decoy: string | null;
  readonly credential: CredentialView;
}

export interface UserSource {
  /** `client`: IP address of the client that sent the name. */
  find(name: string, client: string): Awaitable<User>;
  /** The user's consumer; null: none is needed. Undefined: it was deleted. */
  consumer(user: User, client: string): Awaitable<ConsumerView | null | undefined>;
  close(): void;
}

const emptyCredential: CredentialView = Object.freeze({ id: null, identifier: null });

/** Users that are credentials of consumers. */
export function storedUsers({ entities }: PluginTools): UserSource {
  const known = new WeakMap<EntityRow, User>();
  const decoy = unmatchableScrypt();
  const unknown: User = { account: null, decoy, credential: emptyCredential };
  const userOf = (row: EntityRow | null): User => {
    if (row === null) return unknown;
    const user = known.get(row) ?? { account: accountOf(row), decoy, credential: credentialOf(row) };
    known.set(row, user);
    return user;
  };
  return {
    find(name, client) {
      const row = entities.find('basicauth_credentials', 'username', name, client);
      return row instanceof Promise ? row.then(userOf) : userOf(row);
    },
    consumer({ account }, client) {
      const found = entities.consumer(account?.consumerId ?? '', client);
      return found instanceof Promise ? found.then(orGone) : orGone(found);
    },
    close() {},
  };
}

function orGone(consumer: ConsumerView | null): ConsumerView | undefined {
  return consumer ?? undefined;
}

function accountOf(row: EntityRow): Account | null {
  const hash = parsePasswordHash(String(row['password']));
  const consumerId = foreignIdOf(row, 'consumer');
  return hash === null || consumerId === null ? null : { hash, consumerId };
}

function credentialOf(row: EntityRow): CredentialView {
  return credentialView('basicauth_credentials', row, String(row['username']));
}

/** Users of a file. `asConsumers`: users are mapped to consumers with the same usernames, if there are any. */
export function fileUsers(path: string, asConsumers: boolean, { entities, log, node }: PluginTools): UserSource {
  // All workers read the same file; one of them logs problems.
  const file = new PasswordFile(path, node.worker === 0 ? log : null);
  const userIn = ({ accounts, decoy }: PasswordFileContent, name: string): User => {
    const account = accounts.get(name) ?? null;
    return { account, decoy, credential: { id: null, identifier: name } };
  };
  return {
    find(name) {
      const content = file.content();
      return content instanceof Promise ? content.then((read) => userIn(read, name)) : userIn(content, name);
    },
    consumer({ credential }, client) {
      if (!asConsumers) return null;
      const row = entities.find('consumers', 'username', credential.identifier ?? '', client);
      if (row instanceof Promise) return row.then((found) => (found === null ? null : consumerView(found)));
      return row === null ? null : consumerView(row);
    },
    close: () => file.close(),
  };
}
