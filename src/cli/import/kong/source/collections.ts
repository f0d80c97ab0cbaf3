/** A collection of the Admin API of Kong 3.4 to 3.9, Enterprise included. */
export interface KongCollection {
  /** Schema name. */
  readonly name: string;
  readonly path: string;
  /** Statuses that mean: this Kong has no such collection. */
  readonly absent: readonly number[];
}

/** Parents come before the entities that refer to them. Targets are listed below their upstreams. */
export const kongCollections: readonly KongCollection[] = [
  { name: 'certificates', path: '/certificates', absent: [] },
  { name: 'ca_certificates', path: '/ca_certificates', absent: [404] },
  { name: 'consumers', path: '/consumers', absent: [] },
  { name: 'upstreams', path: '/upstreams', absent: [] },
  { name: 'services', path: '/services', absent: [] },
  { name: 'snis', path: '/snis', absent: [] },
  { name: 'routes', path: '/routes', absent: [] },
  { name: 'plugins', path: '/plugins', absent: [] },
  { name: 'keyauth_credentials', path: '/key-auths', absent: [404] },
  { name: 'basicauth_credentials', path: '/basic-auths', absent: [404] },
  { name: 'hmacauth_credentials', path: '/hmac-auths', absent: [404] },
  { name: 'jwt_secrets', path: '/jwts', absent: [404] },
  { name: 'oauth2_credentials', path: '/oauth2', absent: [404] },
  { name: 'acls', path: '/acls', absent: [404] },
  { name: 'mtls_auth_credentials', path: '/mtls-auths', absent: [404] },
  { name: 'vaults', path: '/vaults', absent: [404] },
  { name: 'key_sets', path: '/key-sets', absent: [404] },
  { name: 'keys', path: '/keys', absent: [404] },
  // A Kong without Wasm answers 400.
  { name: 'filter_chains', path: '/filter-chains', absent: [404, 400] },
  { name: 'consumer_groups', path: '/consumer_groups', absent: [404] },
  { name: 'partials', path: '/partials', absent: [404] },
];
