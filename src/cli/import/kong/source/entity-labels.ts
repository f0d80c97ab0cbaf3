import { type Fields, type KongEntity, type ReadEntity, references, shown } from '../kong-entity.ts';

/** Names the entities: `route users`, `plugin key-auth of route users`, `acl of consumer ada`. */
export function withLabels(entities: readonly ReadEntity[]): readonly KongEntity[] {
  const names = new Map<string, string>();
  for (const { collection, fields } of entities) {
    const name = ownName(collection, fields);
    if (name !== '' && typeof fields['id'] === 'string') names.set(`${collection} ${fields['id']}`, name);
  }
  return entities.map((entity) => ({ ...entity, label: labelOf(entity, names) }));
}

function labelOf({ collection, fields }: ReadEntity, names: ReadonlyMap<string, string>): string {
  const kind = kinds[collection] ?? shown(collection);
  const own = ownName(collection, fields);
  const parents = ['route', 'service', 'consumer', 'consumer_group', 'upstream', 'certificate', 'set']
    .filter((field) => typeof fields[field] === 'string' && !(collection === 'routes' && own !== ''))
    .map((field) => {
      const name = names.get(`${references[field]} ${fields[field]}`);
      return `${field.replace('_', ' ')} ${name ?? shown(fields[field])}`;
    });
  const name = own === '' ? '' : ` ${own}`;
  if (parents.length > 0) return `${kind}${name} of ${parents.join(' and ')}`;
  return `${kind}${name === '' ? ` ${shown(fields['id'] ?? '')}` : name}`.trim();
}

const kinds: Readonly<Record<string, string>> = {
  services: 'service',
  routes: 'route',
  consumers: 'consumer',
  consumer_groups: 'consumer group',
  plugins: 'plugin',
  upstreams: 'upstream',
  targets: 'target',
  certificates: 'certificate',
  ca_certificates: 'CA certificate',
  snis: 'SNI',
  keyauth_credentials: 'key-auth credential',
  basicauth_credentials: 'basic-auth credential',
  hmacauth_credentials: 'hmac-auth credential',
  jwt_secrets: 'jwt secret',
  oauth2_credentials: 'oauth2 credential',
  mtls_auth_credentials: 'mtls-auth credential',
  acls: 'acl',
  vaults: 'vault',
  keys: 'key',
  key_sets: 'key set',
  filter_chains: 'filter chain',
};

/** Credentials are named by their consumer: their own names are logins. */
const nameFields: Readonly<Record<string, readonly string[]>> = {
  services: ['name'],
  routes: ['name'],
  consumers: ['username', 'custom_id'],
  consumer_groups: ['name'],
  plugins: ['name'],
  upstreams: ['name'],
  targets: ['target'],
  snis: ['name'],
  acls: ['group'],
  vaults: ['prefix', 'name'],
  keys: ['name', 'kid'],
  key_sets: ['name'],
  filter_chains: ['name'],
};

function ownName(collection: string, fields: Fields): string {
  const field = nameFields[collection]?.find((name) => typeof fields[name] === 'string');
  return field === undefined ? '' : shown(fields[field]);
}
