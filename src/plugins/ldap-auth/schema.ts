import { boolean, type EntityCheck, host, type Infer, number, port, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  ldap_host: host({ required: true, description: 'Host name or IP address of the LDAP server.' }),
  ldap_port: port({ required: true, default: 389, description: 'Port of the LDAP server; usually 636 with `ldaps`.' }),
  ldaps: boolean({ required: true, default: false, description: 'Uses TLS from the first byte of the connection.' }),
  start_tls: boolean({
    required: true,
    default: false,
    description: 'Switches the connection to TLS (StartTLS) before anything else is sent.',
  }),
  verify_ldap_host: boolean({
    required: true,
    default: false,
    description:
      'With TLS: verifies that the certificate of the server is valid for `ldap_host`, with the authorities of `lua_ssl_trusted_certificate`. If off, anyone on the network path can read the passwords.',
  }),
  base_dn: string({ required: true, description: 'Base DN of the users: `ou=people,dc=example,dc=com`.' }),
  attribute: string({ required: true, description: 'Attribute that holds the user name: `uid`, `cn`.' }),
  cache_ttl: number({
    required: true,
    default: 60,
    unit: 's',
    description: 'Time that a verified login is cached. 0: each request is checked.',
  }),
  hide_credentials: boolean({
    required: true,
    default: false,
    description: 'Removes the headers `Authorization` and `Proxy-Authorization` from the request to the backend.',
  }),
  timeout: number({
    default: 10_000,
    unit: 'ms',
    description: 'Timeout of one login: connecting, TLS, waiting for a free connection, and the response.',
  }),
  keepalive: number({
    default: 60_000,
    unit: 'ms',
    description: 'Time that an idle connection to the server is kept for the next login. 0: none is kept.',
  }),
  anonymous: string({
    description:
      'Id or username of the consumer that requests without a valid login continue as. Unset: they are rejected.',
  }),
  header_type: string({
    default: 'ldap',
    description: 'Scheme of the credentials: `ldap`, or `basic` for what browsers send. Case-insensitive.',
  }),
  realm: string({ description: 'Realm in the `WWW-Authenticate` header of rejections.' }),
});

export type LdapAuthConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  {
    conditional: {
      if_field: 'config.ldaps',
      if_match: { eq: true },
      then_field: 'config.start_tls',
      then_match: { eq: false },
      then_err: "'ldaps' and 'start_tls' cannot be enabled simultaneously",
    },
  },
];
