import {
  array,
  boolean,
  type EntityCheck,
  host,
  type Infer,
  integer,
  number,
  port,
  record,
  sni,
  string,
  timeout,
  url,
  wildcardHost,
} from '../../plugin-sdk/schema.ts';

const letsEncrypt = [
  'https://acme-v02.api.letsencrypt.org/directory',
  'https://acme-v02.api.letsencrypt.org',
  'https://acme-staging-v02.api.letsencrypt.org/directory',
  'https://acme-staging-v02.api.letsencrypt.org',
] as const;

export const letsEncryptDirectory: string = letsEncrypt[0];

const notUsed = 'Accepted for compatibility with Kong and ignored.';

function redisStorage() {
  return record(
    {
      host: host({ description: notUsed }),
      port: port({ default: 6379, description: notUsed }),
      timeout: timeout({ default: 2000, between: [0, 2147483646], description: notUsed }),
      username: string({ referenceable: true, description: notUsed }),
      password: string({ referenceable: true, encrypted: true, len_min: 0, description: notUsed }),
      database: integer({ default: 0, description: notUsed }),
      ssl: boolean({ default: false, description: notUsed }),
      ssl_verify: boolean({ default: false, description: notUsed }),
      server_name: sni({ description: notUsed }),
      extra_options: record(
        {
          namespace: string({ required: true, default: '', len_min: 0, description: notUsed }),
          scan_count: number({ default: 10, description: notUsed }),
        },
        { required: true, description: notUsed },
      ),
    },
    {
      required: true,
      description: notUsed,
      shorthands: {
        auth: { field: string({ len_min: 0 }), replacedWith: ['password'] },
        ssl_server_name: { field: string(), replacedWith: ['server_name'] },
        namespace: { field: string({ len_min: 0 }), replacedWith: ['extra_options', 'namespace'] },
        scan_count: { field: integer(), replacedWith: ['extra_options', 'scan_count'] },
      },
    },
  );
}

function agentStorage() {
  return {
    https: boolean({ default: false, description: notUsed }),
    host: host({ description: notUsed }),
    port: port({ description: notUsed }),
    kv_path: string({ description: notUsed }),
    timeout: number({ unit: 'ms', description: notUsed }),
    token: string({ referenceable: true, encrypted: true, description: notUsed }),
  };
}

export const config = record({
  account_email: string({
    required: true,
    match: /^[^\s@,?&]+@[^\s@,?&]+$/,
    referenceable: true,
    encrypted: true,
    description: 'Email address of the ACME account. The authority writes to it about problems.',
  }),
  account_key: record(
    {
      key_id: string({ required: true, description: notUsed }),
      key_set: string({ description: notUsed }),
    },
    { required: false, description: "Not supported: the gateway creates the account's key and keeps it in its store." },
  ),
  api_uri: url({ default: letsEncryptDirectory, description: "URL of the authority's directory (RFC 8555)." }),
  tos_accepted: boolean({
    default: false,
    description: "Whether you agree to the authority's terms of service. Let's Encrypt requires it.",
  }),
  eab_kid: string({
    referenceable: true,
    encrypted: true,
    description: 'Key id of your existing account with the authority (external account binding).',
  }),
  eab_hmac_key: string({
    referenceable: true,
    encrypted: true,
    match: /^[A-Za-z0-9_-]+=*$/,
    description: 'HMAC key of that account, in base64url.',
  }),
  cert_type: string({ default: 'rsa', one_of: ['rsa', 'ecc'], description: 'Key type of the certificates.' }),
  rsa_key_size: number({ default: 4096, one_of: [2048, 3072, 4096], description: 'Size of RSA keys in bits.' }),
  renew_threshold_days: number({
    default: 14,
    between: [0, 3650],
    unit: 'days',
    description: 'Remaining lifetime at which a certificate is renewed, or a third of its lifetime if that is less.',
  }),
  domains: array(wildcardHost({ description: 'A host; the first or the last character may be `*`.' }), {
    description:
      'Hosts that may get a certificate. `*.example.com` allows every name below it, each with its own certificate.',
  }),
  allow_any_domain: boolean({
    default: false,
    description: 'Allows certificates for any host: any name that points at the gateway can trigger an order.',
  }),
  fail_backoff_minutes: number({
    default: 5,
    between: [0, 525_600],
    unit: 'minutes',
    description: 'Time that a host waits after a failure. It doubles after each further one, up to a day.',
  }),
  challenge_type: string({
    required: true,
    default: 'http-01',
    one_of: ['http-01', 'tls-alpn-01'],
    description: 'How the authority validates the host: by a request to port 80, or by a TLS handshake on port 443.',
  }),
  storage: string({
    default: 'kong',
    one_of: ['kong', 'shm', 'redis', 'consul', 'vault'],
    description: "Where accounts and challenges are stored: in the gateway's store. `shm` means the same.",
  }),
  storage_config: record(
    {
      shm: record(
        { shm_name: string({ required: true, default: 'kong', description: notUsed }) },
        { required: true, description: notUsed },
      ),
      // Not required: decK fills in an empty record neither as a record nor as null.
      kong: record({}, { required: false, description: notUsed }),
      redis: redisStorage(),
      consul: record(agentStorage(), { required: true, description: notUsed }),
      vault: record(
        {
          ...agentStorage(),
          tls_verify: boolean({ default: true, description: notUsed }),
          tls_server_name: string({ description: notUsed }),
          auth_method: string({ default: 'token', one_of: ['token', 'kubernetes'], description: notUsed }),
          auth_path: string({ description: notUsed }),
          auth_role: string({ description: notUsed }),
          jwt_path: string({ description: notUsed }),
        },
        { required: true, description: notUsed },
      ),
    },
    { required: true, description: 'Accepted for compatibility with Kong and ignored.' },
  ),
  preferred_chain: string({
    description: 'Common name of the topmost issuer of the preferred chain, if the authority offers several.',
  }),
  enable_ipv4_common_name: boolean({
    default: true,
    description: 'Accepted for compatibility with Kong and ignored: there are no certificates for IP addresses.',
  }),
});

export type AcmeConfig = Infer<typeof config>;

const termsMessage = 'terms of service must be accepted, see https://letsencrypt.org/repository/';

export const checks: readonly EntityCheck[] = [
  {
    conditional: {
      if_field: 'config.api_uri',
      if_match: { one_of: letsEncrypt },
      then_field: 'config.tos_accepted',
      then_match: { eq: true, err: termsMessage },
      then_err: termsMessage,
    },
  },
  { mutually_required: ['config.eab_kid', 'config.eab_hmac_key'] },
  {
    custom_entity_check: {
      field_sources: ['config'],
      fn: ({ config: given }) => configProblem(given as AcmeConfig),
    },
  },
];

function configProblem({ storage, account_key: key }: AcmeConfig): Readonly<Record<string, string>> | null {
  if (storage === 'redis' || storage === 'consul' || storage === 'vault') {
    return { 'config.storage': `'${storage}' is not supported: use 'kong', the gateway's own store` };
  }
  return key === null ? null : { 'config.account_key': "not supported: leave it out, the account's key is made" };
}
