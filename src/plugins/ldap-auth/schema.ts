import { boolean, type EntityCheck, host, type Infer, number, port, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  ldap_host: host({ required: true, description: 'Name or address of the LDAP server.' }),
  ldap_port: port({ required: true, default: 389, description: 'Port of the LDAP server; usually 636 with `ldaps`.' }),
  ldaps: boolean({ required: true, default: false, description: 'The connection is over TLS from its first byte.' }),
  start_tls: boolean({
    required: true,
    default: false,
    description: 'The connection turns to TLS (StartTLS) before anything else is sent.',
  }),
  verify_ldap_host: boolean({
    required: true,
    default: false,
    description:
      "With TLS: the server's certificate must be valid for `ldap_host`, by the authorities of `lua_ssl_trusted_certificate`. Without this, whoever is in between reads the passwords.",
  }),
  base_dn: string({ required: true, description: 'Where the users are: `ou=people,dc=example,dc=com`.' }),
  attribute: string({ required: true, description: 'Attribute that holds the user name: `uid`, `cn`.' }),
  cache_ttl: number({
    required: true,
    default: 60,
    unit: 's',
    description:
      'How long a verified user name and password are accepted without asking the server again. 0: it is asked each time.',
  }),
  hide_credentials: boolean({
    required: true,
    default: false,
    description: 'The backend does not get the fields `Authorization` and `Proxy-Authorization`.',
  }),
  timeout: number({
    default: 10_000,
    unit: 'ms',
    description: 'For one login: connecting, TLS, waiting for a free connection and the answer.',
  }),
  keepalive: number({
    default: 60_000,
    unit: 'ms',
    description: 'How long an idle connection to the server is kept for the next login. 0: not at all.',
  }),
  anonymous: string({
    description:
      'Id or username of the consumer as which requests without a valid login go on. Unset: they are refused.',
  }),
  header_type: string({
    default: 'ldap',
    description: 'Scheme of the credentials: `ldap`, or `basic` for what browsers send. Its case does not matter.',
  }),
  realm: string({ description: 'Realm that the refusal names in `WWW-Authenticate`.' }),
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
