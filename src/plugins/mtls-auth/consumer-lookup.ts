import { credentialView } from '../../plugin-kit/auth/index.ts';
import type { ConsumerView, CredentialView, EntityRow, PluginTools } from '../../plugin-sdk/index.ts';
import { consumerView, foreignIdOf } from '../../plugin-sdk/index.ts';
import type { MtlsAuthConfig } from './schema.ts';
import type { Accepted } from './verification.ts';

export interface Owner {
  readonly consumer: ConsumerView;
  readonly credential: CredentialView;
}

type Maybe<T> = T | null | Promise<T | null>;
type Lookup = (accepted: Accepted) => Maybe<Owner>;

/**
 * Finds the consumer that a certificate belongs to, in Kong's order: a credential for one of its names and its authority,
 * a credential for a name alone, a consumer with such a username or custom id, the default consumer.
 */
export class ConsumerLookup {
  readonly #config: MtlsAuthConfig;
  readonly #tools: PluginTools;
  readonly #lookups = new WeakMap<Accepted, readonly Lookup[]>();

  constructor(config: MtlsAuthConfig, tools: PluginTools) {
    this.#config = config;
    this.#tools = tools;
  }

  ownerOf(accepted: Accepted): Maybe<Owner> {
    return firstAnswer(this.#lookupsFor(accepted), accepted, 0);
  }

  #lookupsFor(accepted: Accepted): readonly Lookup[] {
    const known = this.#lookups.get(accepted);
    if (known !== undefined) return known;
    const { consumer_by: fields, default_consumer: byDefault } = this.#config;
    const { names } = accepted;
    const questions: Lookup[] = [
      ...names.map(
        (name): Lookup =>
          ({ authorities }) =>
            this.#credential(name, authorities),
      ),
      ...names.map(
        (name): Lookup =>
          () =>
            this.#credential(name, null),
      ),
      ...names.flatMap((name) =>
        (fields ?? []).map(
          (field): Lookup =>
            () =>
              this.#consumer(field, name),
        ),
      ),
      ...(byDefault === null ? [] : [(): Maybe<Owner> => this.#default(byDefault, accepted)]),
    ];
    this.#lookups.set(accepted, questions);
    return questions;
  }

  /** `authorities`: the credential must name one of them; null: it names none. */
  #credential(name: string, authorities: ReadonlySet<string> | null): Maybe<Owner> {
    const rows = this.#tools.entities.list('mtls_auth_credentials', 'subject_name', name);
    if (rows instanceof Promise) return rows.then((found) => this.#ownerAmong(found, authorities));
    return this.#ownerAmong(rows, authorities);
  }

  #ownerAmong(rows: readonly EntityRow[], authorities: ReadonlySet<string> | null): Maybe<Owner> {
    const row = rows.find((one) => {
      const id = foreignIdOf(one, 'ca_certificate');
      return authorities === null ? id === null : id !== null && authorities.has(id);
    });
    const consumerId = row === undefined ? null : foreignIdOf(row, 'consumer');
    if (row === undefined || consumerId === null) return null;
    const credential = credentialView('mtls_auth_credentials', row, row.id);
    return owner(this.#tools.entities.find('consumers', 'id', consumerId), credential);
  }

  /** A name never matches the id of a consumer. */
  #consumer(field: string, name: string): Maybe<Owner> {
    return owner(this.#tools.entities.find('consumers', field, name), { id: null, identifier: name });
  }

  #default(idOrName: string, { certificate }: Accepted): Maybe<Owner> {
    const found = this.#tools.entities.consumer(idOrName);
    const credential = { id: null, identifier: certificate.subjectText };
    const known = (consumer: ConsumerView | null): Owner | null => {
      if (consumer === null) this.#tools.log.error('the default consumer does not exist', { consumer: idOrName });
      return consumer === null ? null : { consumer, credential };
    };
    return found instanceof Promise ? found.then(known) : known(found);
  }
}

function owner(found: EntityRow | null | Promise<EntityRow | null>, credential: CredentialView): Maybe<Owner> {
  if (found instanceof Promise) return found.then((row) => owner(row, credential));
  return found === null ? null : { consumer: consumerView(found), credential };
}

/** Synchronous as long as all lookups are. */
function firstAnswer(questions: readonly Lookup[], accepted: Accepted, from: number): Maybe<Owner> {
  for (let at = from; at < questions.length; at++) {
    const answer = questions[at]!(accepted);
    if (answer instanceof Promise) return answer.then((one) => one ?? firstAnswer(questions, accepted, at + 1));
    if (answer !== null) return answer;
  }
  return null;
}
