/** An entity as it was read. A reference is the id or the endpoint key of the other entity, as in flat declarative files. */
export interface ReadEntity {
  /** Schema name: `services`, `keyauth_credentials`. Also names that this gateway does not have. */
  readonly collection: string;
  /** Without nested entities. */
  readonly fields: Fields;
}

/** One entity of Kong. */
export interface KongEntity extends ReadEntity {
  /** What a person calls it, without secrets: `plugin key-auth of route users`. */
  readonly label: string;
}

export type Fields = Readonly<Record<string, unknown>>;

/** What was read of one Kong. */
export interface KongSource {
  /** Null when a file does not say it. */
  readonly version: string | null;
  /** `_format_version` of a document with these entities. */
  readonly format: string;
  /** Passwords of basic-auth that look like Kong's hashes are hashes. */
  readonly hashedPasswords: boolean;
  readonly entities: readonly KongEntity[];
  /** Parts that could not be read. */
  readonly unread: readonly UnreadPart[];
}

export interface UnreadPart {
  /** `vaults`, `workspace team-a`. */
  readonly what: string;
  readonly why: string;
  readonly todo: string;
  /** The collection, if only a part of the entities was not read. */
  readonly collection: string | null;
}

/** The entity that a field refers to, by the field's name. The same names mean the same in all of Kong's entities. */
export const references: Readonly<Record<string, string>> = {
  service: 'services',
  route: 'routes',
  consumer: 'consumers',
  consumer_group: 'consumer_groups',
  upstream: 'upstreams',
  certificate: 'certificates',
  client_certificate: 'certificates',
  ca_certificate: 'ca_certificates',
  set: 'key_sets',
};

/** The field that names an entity instead of its id. */
export const endpointKeys: Readonly<Record<string, string>> = {
  services: 'name',
  routes: 'name',
  consumers: 'username',
  consumer_groups: 'name',
  upstreams: 'name',
  snis: 'name',
  key_sets: 'name',
  vaults: 'prefix',
};

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What others write to refer to the entity. */
export function referencesTo({ collection, fields }: ReadEntity): readonly string[] {
  const key = endpointKeys[collection];
  const names = [fields['id'], key === undefined ? undefined : fields[key]];
  return names.filter((name) => typeof name === 'string');
}

const maxShown = 100;

/** Text of a foreign source for a person: on one line, printable, not too long. */
export function shown(value: unknown): string {
  const text = printable((typeof value === 'string' ? value : JSON.stringify(value)) ?? '');
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}

/** Text without what could control a terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\p{Bidi_Control}]/gu, '?');
}
