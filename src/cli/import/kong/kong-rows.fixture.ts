import { createHash } from 'node:crypto';
import type { KongRow } from '../../../../test/support/kong.ts';
import { firstCertificate } from '../../../control/admin/certificate.fixture.ts';

/* Rows as a Kong 3.9 with a few Enterprise fields shows them: every field, null where it is not set. */

type Rows = Readonly<Record<string, readonly KongRow[]>>;

const time = { created_at: 1_700_000_000, updated_at: 1_700_000_000 };

export const id = (group: number, number: number): string =>
  `${String(group).padStart(8, '0')}-0000-4000-8000-${String(number).padStart(12, '0')}`;

export const ada = id(3, 1);
const bob = id(3, 2);

/** As basic-auth of Kong stores a password. */
export function kongHash(password: string, consumer: string): string {
  return createHash('sha1')
    .update(password + consumer)
    .digest('hex');
}

export function service(number: number, name: string, more: KongRow = {}): KongRow {
  return {
    id: id(1, number),
    name,
    ...time,
    retries: 5,
    protocol: 'http',
    host: 'backend.example',
    port: 80,
    path: null,
    connect_timeout: 60_000,
    write_timeout: 60_000,
    read_timeout: 60_000,
    client_certificate: null,
    tls_verify: null,
    tls_verify_depth: null,
    ca_certificates: null,
    tls_sans: null,
    enabled: true,
    tags: null,
    ...more,
  };
}

export function route(number: number, name: string | null, more: KongRow = {}): KongRow {
  return {
    id: id(2, number),
    name,
    ...time,
    protocols: ['http', 'https'],
    https_redirect_status_code: 426,
    strip_path: true,
    preserve_host: false,
    request_buffering: true,
    response_buffering: true,
    service: { id: id(1, 1) },
    methods: null,
    hosts: null,
    paths: null,
    headers: null,
    snis: null,
    sources: null,
    destinations: null,
    regex_priority: 0,
    path_handling: 'v0',
    tags: null,
    ...more,
  };
}

export function plugin(number: number, name: string, config: KongRow, more: KongRow = {}): KongRow {
  return {
    id: id(4, number),
    name,
    instance_name: null,
    ...time,
    route: null,
    service: null,
    consumer: null,
    consumer_group: null,
    config,
    protocols: ['grpc', 'grpcs', 'http', 'https'],
    enabled: true,
    ordering: null,
    partials: null,
    tags: null,
    ...more,
  };
}

const redis = {
  host: null,
  port: 6379,
  timeout: 2000,
  username: null,
  password: null,
  database: 0,
  ssl: false,
  ssl_verify: false,
  server_name: null,
};

const redisShorthands = {
  redis_host: null,
  redis_port: 6379,
  redis_timeout: 2000,
  redis_username: null,
  redis_password: null,
  redis_database: 0,
  redis_ssl: false,
  redis_ssl_verify: false,
  redis_server_name: null,
};

/** A Kong with something of everything that a gateway can take over. `backend`: `host` and `port` of the services. */
export function kongRows(backend: KongRow): Rows {
  return {
    '/services': [
      service(1, 'users', { ...backend, tags: ['team-a'] }),
      service(2, 'orders', { ...backend, path: '/v2' }),
      service(3, 'balanced', { host: 'pool.internal', port: 80 }),
    ],
    '/routes': [
      route(1, 'users', { paths: ['/users'], strip_path: false }),
      route(2, 'accounts', { paths: ['/accounts'], methods: ['GET'] }),
      route(3, 'tokens', { paths: ['~/tokens/(?<id>\\d+)$'] }),
      route(4, 'orders', { paths: ['/orders'], service: { id: id(1, 2) }, headers: { 'x-tenant': ['a', 'b'] } }),
      route(5, null, { hosts: ['*.pool.example'], service: { id: id(1, 3) } }),
    ],
    '/plugins': [
      plugin(
        1,
        'key-auth',
        {
          key_names: ['apikey'],
          key_in_body: false,
          key_in_header: true,
          key_in_query: true,
          hide_credentials: false,
          anonymous: null,
          run_on_preflight: true,
          realm: null,
        },
        { route: { id: id(2, 1) } },
      ),
      plugin(
        2,
        'basic-auth',
        { hide_credentials: false, anonymous: null, realm: 'service' },
        { route: { id: id(2, 2) } },
      ),
      plugin(
        3,
        'acl',
        {
          allow: ['staff'],
          deny: null,
          hide_groups_header: false,
          always_use_authenticated_groups: false,
          include_consumer_groups: false,
        },
        { route: { id: id(2, 1) } },
      ),
      plugin(
        4,
        'rate-limiting',
        {
          second: null,
          minute: 1000,
          hour: null,
          day: null,
          month: null,
          year: null,
          limit_by: 'consumer',
          header_name: null,
          path: null,
          policy: 'local',
          fault_tolerant: true,
          redis,
          ...redisShorthands,
          hide_client_headers: false,
          error_code: 429,
          error_message: 'API rate limit exceeded',
          sync_rate: -1,
        },
        { route: { id: id(2, 1) }, consumer: { id: ada } },
      ),
      plugin(5, 'correlation-id', {
        header_name: 'Kong-Request-ID',
        generator: 'uuid#counter',
        echo_downstream: false,
      }),
    ],
    '/consumers': [
      { id: ada, username: 'ada', username_lower: 'ada', custom_id: null, type: 0, tags: null, ...time },
      { id: bob, username: 'bob', username_lower: 'bob', custom_id: 'b-7', type: 0, tags: ['robots'], ...time },
    ],
    '/key-auths': [
      { id: id(5, 1), created_at: 1_700_000_000, consumer: { id: ada }, key: 'key-of-ada', tags: null, ttl: null },
      { id: id(5, 2), created_at: 1_700_000_000, consumer: { id: bob }, key: 'key-of-bob', tags: null, ttl: null },
    ],
    '/basic-auths': [
      {
        id: id(6, 1),
        created_at: 1_700_000_000,
        consumer: { id: ada },
        username: 'ada',
        password: kongHash('swordfish', ada),
        tags: null,
      },
    ],
    '/acls': [{ id: id(7, 1), created_at: 1_700_000_000, consumer: { id: ada }, group: 'staff', tags: null }],
    '/jwts': [
      {
        id: id(8, 1),
        created_at: 1_700_000_000,
        consumer: { id: bob },
        key: 'issuer',
        secret: 'jwt-secret',
        algorithm: 'HS256',
        rsa_public_key: null,
        tags: null,
      },
    ],
    '/hmac-auths': [
      {
        id: id(9, 1),
        created_at: 1_700_000_000,
        consumer: { id: bob },
        username: 'bob',
        secret: 'hmac-secret',
        tags: null,
      },
    ],
    '/oauth2': [
      {
        id: id(10, 1),
        created_at: 1_700_000_000,
        consumer: { id: bob },
        name: 'app',
        client_id: 'client',
        client_secret: '$pbkdf2-sha512$i=10000,l=32$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g',
        hash_secret: true,
        redirect_uris: ['https://app.example/cb'],
        client_type: 'confidential',
        tags: null,
      },
    ],
    '/certificates': [
      {
        id: id(11, 1),
        ...time,
        cert: firstCertificate.cert,
        key: firstCertificate.key,
        cert_alt: null,
        key_alt: null,
        snis: ['a.test'],
        tags: null,
      },
    ],
    '/snis': [{ id: id(12, 1), ...time, name: 'a.test', certificate: { id: id(11, 1) }, tags: null }],
    '/ca_certificates': [],
    '/upstreams': [
      {
        id: id(13, 1),
        ...time,
        name: 'pool.internal',
        algorithm: 'consistent-hashing',
        hash_on: 'header',
        hash_on_header: 'X-Tenant-Id',
        hash_fallback: 'none',
        hash_on_cookie: null,
        hash_on_cookie_path: '/',
        slots: 10_000,
        host_header: null,
        use_srv_name: false,
        client_certificate: null,
        healthchecks: { active: { type: 'http', timeout: 1, http_path: '/health' }, threshold: 0 },
        tags: null,
      },
    ],
    [`/upstreams/${id(13, 1)}/targets`]: [
      {
        id: id(14, 2),
        created_at: 1_700_000_001.123,
        updated_at: 1_700_000_001.123,
        upstream: { id: id(13, 1) },
        target: '127.0.0.1:9002',
        weight: 0,
        tags: null,
      },
      {
        id: id(14, 1),
        created_at: 1_700_000_000.123,
        updated_at: 1_700_000_000.123,
        upstream: { id: id(13, 1) },
        target: '127.0.0.1:9001',
        weight: 100,
        tags: null,
      },
    ],
  };
}

/** The same rows with more of them. */
export function withRows(rows: Rows, more: Rows): Rows {
  const merged = Object.entries(more).map(([path, list]) => [path, [...(rows[path] ?? []), ...list]]);
  return { ...rows, ...Object.fromEntries(merged) };
}
