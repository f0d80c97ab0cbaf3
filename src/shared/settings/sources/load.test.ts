import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { SettingSources } from './load.ts';
import { loadSettings } from './load.ts';

const cwd = mkdtempSync(join(tmpdir(), 'settings-'));
after(() => rmSync(cwd, { recursive: true, force: true }));

let files = 0;
function file(content: string): string {
  const path = join(cwd, `${++files}.txt`);
  writeFileSync(path, content);
  return path;
}

function load(sources: SettingSources): ReturnType<typeof loadSettings> {
  return loadSettings({ cwd, ...sources });
}

function refusal(sources: SettingSources): string {
  try {
    load(sources);
  } catch (error) {
    assert.equal(error instanceof Error && error.name, 'SettingsError');
    return error instanceof Error ? error.message : '';
  }
  assert.fail('the settings were accepted');
}

describe('browsers and the Admin API', () => {
  test('admin_gui_url takes one or more URLs and keeps their origins', () => {
    const { settings, warnings } = load({
      env: {
        KONG_ADMIN_GUI_URL: 'https://Manager.example:443/ui, http://localhost:8002',
        SLUICEGATE_ADMIN_HOSTS: 'GW.example',
      },
    });
    assert.deepEqual(warnings, []);
    assert.deepEqual(settings.adminGuiUrl, ['https://manager.example', 'http://localhost:8002']);
    assert.deepEqual(settings.adminHosts, ['gw.example']);
    assert.deepEqual(settings.public['admin_gui_url'], ['https://Manager.example:443/ui', 'http://localhost:8002']);
  });

  test('invalid URLs and host names are refused', () => {
    for (const text of ['manager.example', 'ftp://manager.example', 'https://']) {
      assert.match(refusal({ env: { KONG_ADMIN_GUI_URL: text } }), /http and https URLs, not/);
    }
    for (const text of ['gw.example:8001', 'http://gw.example', 'a..b', '*']) {
      assert.match(refusal({ env: { SLUICEGATE_ADMIN_HOSTS: text } }), /host names without ports, not/);
    }
  });
});

describe('strength', () => {
  test('without any source the defaults hold', () => {
    const { settings, warnings, file: read } = load({});
    assert.equal(read, null);
    assert.deepEqual(warnings, []);
    assert.equal(settings.prefix, join(cwd, '.sluicegate'));
    assert.equal(settings.workers, availableParallelism());
    assert.equal(settings.database, 'sqlite');
    assert.deepEqual(
      settings.proxyListen.map((address) => address.listener),
      ['0.0.0.0:8000 reuseport backlog=16384', '0.0.0.0:8443 ssl reuseport backlog=16384'],
    );
    assert.equal(settings.adminListen[0]?.listener, '127.0.0.1:8001');
    assert.equal(settings.statusListen[0]?.listener, '127.0.0.1:8100');
    assert.equal(settings.proxyAccessLog, join(cwd, '.sluicegate/logs/access.log'));
    assert.equal(settings.upstreamKeepalive.idleTimeout, 60_000);
    assert.equal(settings.headers.has('x-kong-proxy-latency'), true);
    assert.equal(settings.headers.has('x-kong-upstream-status'), false);
  });

  test('file, KONG_, SLUICEGATE_ and flags win in this order', () => {
    const conf = file('log_level = debug\nprefix = one\nworkers = 1\npg_user = a\n');
    const env = {
      KONG_PREFIX: 'two',
      KONG_NGINX_WORKER_PROCESSES: '2',
      KONG_PG_USER: 'b',
      SLUICEGATE_WORKERS: '3',
      SLUICEGATE_PG_USER: 'c',
    };
    const { settings, file: read } = load({ conf, env, flags: { 'pg-user': 'd' } });
    assert.equal(read, conf);
    assert.equal(settings.logLevel, 'debug');
    assert.equal(settings.prefix, join(cwd, 'two'));
    assert.equal(settings.workers, 3);
    assert.equal(settings.pg.user, 'd');
  });

  test('sluicegate.conf of the current directory is found', () => {
    const path = join(cwd, 'sluicegate.conf');
    writeFileSync(path, 'log_level = crit\n');
    try {
      assert.equal(load({}).settings.logLevel, 'crit');
      assert.equal(load({}).file, path);
    } finally {
      rmSync(path);
    }
  });

  test('the given file must exist', () => {
    assert.equal(refusal({ conf: 'nowhere.conf' }), `no file at: ${join(cwd, 'nowhere.conf')}`);
  });
});

describe('wrong input', () => {
  const cases: readonly (readonly [string, SettingSources, string])[] = [
    [
      'a wrong level',
      { env: { KONG_LOG_LEVEL: 'loud' } },
      "log_level has an invalid value: 'loud' (debug, info, notice, warn, error, crit, alert, emerg) (set by KONG_LOG_LEVEL)",
    ],
    ['a wrong boolean', { env: { KONG_PG_SSL: 'maybe' } }, "pg_ssl is not a boolean: 'maybe' (set by KONG_PG_SSL)"],
    ['a wrong number', { flags: { 'pg-port': 'x' } }, "pg_port is not a number: 'x' (set by --pg-port)"],
    [
      'a number out of range',
      { env: { SLUICEGATE_WORKERS: '0' } },
      'nginx_worker_processes must be from 1 to 1024, not 0 (set by SLUICEGATE_WORKERS)',
    ],
    [
      'a wrong size',
      { env: { KONG_NGINX_HTTP_CLIENT_MAX_BODY_SIZE: '5x' } },
      "nginx_http_client_max_body_size is not a size: '5x' (write 8k, 10m or 1g) (set by KONG_NGINX_HTTP_CLIENT_MAX_BODY_SIZE)",
    ],
    [
      'a wrong time',
      { env: { KONG_UPSTREAM_KEEPALIVE_IDLE_TIMEOUT: 'soon' } },
      "upstream_keepalive_idle_timeout is not a time: 'soon' (write 500ms, 60s, 1m or 30d) (set by KONG_UPSTREAM_KEEPALIVE_IDLE_TIMEOUT)",
    ],
    [
      'a wrong address block',
      { env: { KONG_TRUSTED_IPS: '10.0.0.0/8, 1.2.3.4/33' } },
      "trusted_ips must be a comma separated list of IPv4 or IPv6 addresses, CIDR blocks or 'unix:', not '1.2.3.4/33' (set by KONG_TRUSTED_IPS)",
    ],
    [
      'a wrong port map',
      { env: { KONG_PORT_MAPS: '80' } },
      'invalid port mapping (`port_maps`): 80 (set by KONG_PORT_MAPS)',
    ],
    [
      'an unknown header',
      { env: { KONG_HEADERS: 'X-Foo' } },
      "headers has an invalid value: 'x-foo' (off, server_tokens, latency_tokens, Server, Via, X-Kong-Proxy-Latency, X-Kong-Upstream-Latency, X-Kong-Response-Latency, X-Kong-Admin-Latency, X-Kong-Upstream-Status, X-Kong-Request-Id, Server-Timing) (set by KONG_HEADERS)",
    ],
    [
      'Cassandra',
      { env: { KONG_DATABASE: 'cassandra' } },
      "database has an invalid value: 'cassandra' (sqlite, postgres, off): Cassandra is not supported (set by KONG_DATABASE)",
    ],
    [
      'a declarative configuration twice',
      { env: { KONG_DATABASE: 'off', KONG_DECLARATIVE_CONFIG: 'kong.yml', KONG_DECLARATIVE_CONFIG_STRING: '{}' } },
      'declarative_config and declarative_config_string are both set; keep one of them',
    ],
    [
      'a watched file without a file',
      { env: { KONG_DATABASE: 'off', SLUICEGATE_DECLARATIVE_CONFIG_WATCH: 'on' } },
      'declarative_config_watch needs declarative_config',
    ],
    [
      'an unknown flag',
      { flags: { 'proxy-lsten': 'off' } },
      'unknown option --proxy-lsten (did you mean --proxy-listen?)',
    ],
    [
      'an unknown SLUICEGATE_ name',
      { env: { SLUICEGATE_LOG_LEVL: 'debug' } },
      'unknown setting SLUICEGATE_LOG_LEVL (did you mean SLUICEGATE_LOG_LEVEL?)',
    ],
    ['a certificate without its key', { env: { KONG_SSL_CERT: 'a.pem' } }, 'ssl_cert_key must be specified'],
    ['a key without its certificate', { env: { KONG_SSL_CERT_KEY: 'a.pem' } }, 'ssl_cert must be specified'],
    [
      'one port for two listeners',
      { env: { KONG_PROXY_LISTEN: '127.0.0.1:8001' } },
      'admin_listen and proxy_listen both name port 8001 of 127.0.0.1',
    ],
    [
      'one setting under two names',
      { env: { SLUICEGATE_WORKERS: '1', SLUICEGATE_NGINX_WORKER_PROCESSES: '2' } },
      'SLUICEGATE_WORKERS and SLUICEGATE_NGINX_WORKER_PROCESSES set the same setting (nginx_worker_processes); keep one of them',
    ],
    [
      'an empty value where one is needed',
      { env: { KONG_LOG_LEVEL: '' } },
      "log_level has an invalid value: '' (debug, info, notice, warn, error, crit, alert, emerg) (set by KONG_LOG_LEVEL)",
    ],
  ];
  for (const [title, sources, message] of cases) {
    test(`${title} stops with one line that names it`, () => assert.equal(refusal(sources), message));
  }

  test('several invalid settings are reported together', () => {
    const conf = file('log_level = loud\nworker_timeout = soon\n');
    assert.equal(
      refusal({ conf, env: { SLUICEGATE_BODY_MEMORY: '12q' } }).replaceAll(conf, 'conf'),
      '3 settings are invalid:\n' +
        "  log_level has an invalid value: 'loud' (debug, info, notice, warn, error, crit, alert, emerg) (set by conf line 1)\n" +
        "  body_memory is not a size: '12q' (write 8k, 10m or 1g) (set by SLUICEGATE_BODY_MEMORY)\n" +
        "  worker_timeout is not a time: 'soon' (write 500ms, 60s, 1m or 30d) (set by conf line 2)",
    );
  });

  test('an unknown key of the file names its line', () => {
    const conf = file('# x\nprxy_listen = off\n');
    assert.equal(refusal({ conf }), `${conf} line 2: unknown setting 'prxy_listen' (did you mean proxy_listen?)`);
  });

  test('a secret is never part of a message', () => {
    assert.equal(
      refusal({ env: { SLUICEGATE_ADMIN_TOKEN: 'top secret' } }),
      'admin_token must be printable ASCII without spaces, as it travels in a header (set by SLUICEGATE_ADMIN_TOKEN)',
    );
  });
});

describe('warnings', () => {
  test('an unknown KONG_ name is one warning', () => {
    assert.deepEqual(load({ env: { KONG_LOG_LEVL: 'x' } }).warnings, [
      'KONG_LOG_LEVL is not a known setting and is ignored (did you mean KONG_LOG_LEVEL?)',
    ]);
  });

  test('settings of Kong without an effect are one warning for each source', () => {
    const conf = file('nginx_daemon = off\n');
    assert.deepEqual(load({ conf, env: { KONG_LUA_PACKAGE_PATH: 'x', KONG_NGINX_DAEMON: 'off' } }).warnings, [
      `${conf}: nginx_daemon has no meaning here and is ignored`,
      'KONG_LUA_PACKAGE_PATH, KONG_NGINX_DAEMON have no meaning here and are ignored',
    ]);
  });

  test('variables that Kubernetes injects for its Services are not settings', () => {
    const env = {
      KONG_PORT: 'tcp://10.0.0.1:80',
      KONG_SERVICE_HOST: '10.0.0.1',
      KONG_SERVICE_PORT_PROXY: '80',
      KONG_PORT_8000_TCP: 'tcp://10.0.0.1:8000',
      KONG_PORT_8000_TCP_ADDR: '10.0.0.1',
      KONG_PROXY_SERVICE_HOST: '10.0.0.1',
      KONG_PG_PORT: 'tcp://10.0.0.2:5432',
      SLUICEGATE_SERVICE_HOST: '10.0.0.3',
      SLUICEGATE_PORT: 'tcp://10.0.0.3:80',
    };
    const { settings, warnings } = load({ env });
    assert.deepEqual(warnings, []);
    assert.equal(settings.pg.port, 5432);
  });

  test('an Admin API that other machines can reach without a token causes a warning', () => {
    const { warnings } = load({ env: { KONG_ADMIN_LISTEN: '0.0.0.0:8001, [::]:8001, 127.0.0.1:8003' } });
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /0\.0\.0\.0:8001, \[::\]:8001 without a token/);
    assert.deepEqual(load({ env: { KONG_ADMIN_LISTEN: '0.0.0.0:8001', SLUICEGATE_ADMIN_TOKEN: 'x' } }).warnings, []);
    assert.deepEqual(load({ env: { KONG_ADMIN_LISTEN: '0.0.0.0:8001', SLUICEGATE_ADMIN_AUTH: 'on' } }).warnings, []);
    const certificates = { KONG_ADMIN_LISTEN: '0.0.0.0:8444 ssl', SLUICEGATE_ADMIN_SSL_CLIENT_CA: '/ca.pem' };
    assert.deepEqual(load({ env: certificates }).warnings, []);
    for (const verify of ['optional', 'off']) {
      const env = { ...certificates, SLUICEGATE_ADMIN_SSL_VERIFY_CLIENT: verify };
      assert.equal(load({ env }).warnings.length, 1, verify);
    }
  });

  test("certificates of the Admin API's clients, with the names of Kong, too", () => {
    const env = {
      KONG_ADMIN_LISTEN: '127.0.0.1:8444 ssl',
      KONG_NGINX_ADMIN_SSL_CLIENT_CERTIFICATE: '/ca.pem',
      KONG_NGINX_ADMIN_SSL_VERIFY_CLIENT: 'optional',
    };
    const { settings } = load({ env });
    assert.deepEqual([settings.adminClientCa, settings.adminClientOptional], [['/ca.pem'], true]);
    assert.deepEqual(load({ env: { ...env, KONG_NGINX_ADMIN_SSL_VERIFY_CLIENT: 'off' } }).settings.adminClientCa, []);
    assert.match(
      refusal({ env: { ...env, KONG_ADMIN_LISTEN: '127.0.0.1:8001' } }),
      /needs a listener with the flag ssl/,
    );
    assert.match(refusal({ env: { KONG_ADMIN_SSL_CERT: '/a.crt' } }), /^admin_ssl_cert_key must be specified/);
    assert.match(refusal({ env: { KONG_STATUS_SSL_CERT_KEY: '/a.key' } }), /^status_ssl_cert must be specified/);
  });
});

describe('values', () => {
  test('a value can come from a file', () => {
    const path = file('s3cret\n');
    assert.equal(load({ env: { KONG_PG_PASSWORD_FILE: path } }).settings.pg.password, 's3cret');
    assert.equal(
      refusal({ env: { KONG_PG_PASSWORD_FILE: path, KONG_PG_PASSWORD: 'x' } }),
      'both KONG_PG_PASSWORD and KONG_PG_PASSWORD_FILE are set (but are exclusive)',
    );
    assert.match(
      refusal({ env: { KONG_PG_PASSWORD_FILE: '/nowhere' } }),
      /^KONG_PG_PASSWORD_FILE names a file that cannot be read/,
    );
  });

  test('a value can refer to another variable of the environment', () => {
    const env = {
      DB_PASS: 'p',
      DB: '{"user":"u"}',
      KONG_PG_PASSWORD: '{vault://env/db-pass}',
      KONG_PG_USER: '{vault://env/db/user}',
    };
    const { settings } = load({ env });
    assert.equal(settings.pg.password, 'p');
    assert.equal(settings.pg.user, 'u');
    assert.equal(
      refusal({ env: { KONG_PG_USER: '{vault://env/nope}' } }),
      'pg_user refers to {vault://env/nope}, and the environment variable NOPE is not set',
    );
    assert.match(refusal({ env: { KONG_PG_USER: '{vault://aws/x}' } }), /only 'env' can be used/);
  });

  test('lists, maps and switches are converted to the form that the gateway uses', () => {
    const { settings } = load({
      env: {
        KONG_TRUSTED_IPS: '10.0.0.0/8, ::1, unix:',
        KONG_PORT_MAPS: '80:8000, 443:8443',
        KONG_HEADERS: 'off',
        KONG_PLUGINS: 'cors, key-auth',
        KONG_PROXY_ACCESS_LOG: '/dev/stdout',
        KONG_ADMIN_ACCESS_LOG: 'off',
        KONG_CLIENT_BODY_BUFFER_SIZE: '16k',
        KONG_REAL_IP_HEADER: 'X-Forwarded-For',
        KONG_UPSTREAM_KEEPALIVE_IDLE_TIMEOUT: '1m',
      },
    });
    assert.deepEqual(settings.trustedIps, ['10.0.0.0/8', '::1', 'unix:']);
    assert.deepEqual(settings.portMaps, { 8000: 80, 8443: 443 });
    assert.equal(settings.headers.size, 0);
    assert.deepEqual(settings.plugins, ['cors', 'key-auth']);
    assert.equal(settings.proxyAccessLog, '/dev/stdout');
    assert.equal(settings.adminAccessLog, 'off');
    assert.equal(settings.realIpHeader, 'x-forwarded-for');
    assert.equal(settings.upstreamKeepalive.idleTimeout, 60_000);
  });

  test('settings can be sent to a worker', () => {
    const { settings } = load({});
    assert.deepEqual(structuredClone(settings), settings);
  });
});

describe('what GET / shows', () => {
  test('secrets are masked, alone and in lists', () => {
    const shown = load({
      env: { KONG_PG_PASSWORD: 'a', SLUICEGATE_ADMIN_TOKEN: 'b', KONG_SSL_CERT: 'c, d', KONG_SSL_CERT_KEY: 'e, f' },
    }).settings.public;
    assert.equal(shown['pg_password'], '******');
    assert.equal(shown['admin_token'], '******');
    assert.deepEqual(shown['ssl_cert_key'], ['******', '******']);
    assert.deepEqual(shown['ssl_cert'], ['c', 'd']);
  });

  test('a declarative configuration is masked', () => {
    const document =
      '{"_format_version":"3.0","consumers":[{"username":"a","keyauth_credentials":[{"key":"secret"}]}]}';
    const loaded = load({ env: { KONG_DATABASE: 'off', KONG_DECLARATIVE_CONFIG_STRING: document } });
    assert.equal(loaded.settings.declarative.text, document);
    assert.equal(loaded.settings.public['database'], 'off');
    assert.equal(loaded.settings.public['declarative_config_string'], '******');
    assert.ok(!JSON.stringify([loaded.settings.public, loaded.warnings]).includes('secret'));
  });

  test('the dashboard has no listener where the Admin API has none, or only for clients with a certificate', () => {
    const listen = (env: Readonly<Record<string, string>>) =>
      load({ env }).settings.adminGuiListen.map(({ port, ssl }) => `${port}${ssl ? ' ssl' : ''}`);
    assert.deepEqual(listen({}), ['8002']);
    assert.deepEqual(listen({ KONG_ADMIN_GUI_LISTEN: 'off' }), []);
    assert.deepEqual(listen({ KONG_ADMIN_LISTEN: 'off' }), []);
    const certified = {
      KONG_ADMIN_LISTEN: '127.0.0.1:8444 ssl',
      SLUICEGATE_ADMIN_SSL_CLIENT_CA: 'ca.pem',
      KONG_ADMIN_GUI_LISTEN: '127.0.0.1:8002, 127.0.0.1:8445 ssl',
    };
    assert.deepEqual(listen(certified), ['8445 ssl']);
    assert.deepEqual(listen({ ...certified, SLUICEGATE_ADMIN_SSL_VERIFY_CLIENT: 'optional' }), ['8002', '8445 ssl']);
    assert.deepEqual(listen({ ...certified, KONG_ADMIN_LISTEN: '127.0.0.1:8001, 127.0.0.1:8444 ssl' }), [
      '8002',
      '8445 ssl',
    ]);
  });

  test('the default address of the dashboard gives way to others; one that was set does not', () => {
    const listen = (env: Readonly<Record<string, string>>) => load({ env }).settings.adminGuiListen;
    assert.deepEqual(
      listen({}).map(({ port, optional }) => [port, optional]),
      [[8002, true]],
    );
    assert.deepEqual(listen({ KONG_PROXY_LISTEN: '0.0.0.0:8002' }), []);
    const [chosen] = listen({ KONG_ADMIN_GUI_LISTEN: '127.0.0.1:8002' });
    assert.equal(chosen?.optional, undefined);
    const both = { KONG_ADMIN_GUI_LISTEN: '127.0.0.1:8002', KONG_ADMIN_LISTEN: '127.0.0.1:8002' };
    assert.match(refusal({ env: both }), /both name port 8002/);
  });

  test('admin_gui_path is a path without a slash at its end', () => {
    const path = (value: string) => load({ env: { KONG_ADMIN_GUI_PATH: value } }).settings.adminGuiPath;
    assert.deepEqual(['/', '/manager', '/a/b-c'].map(path), ['/', '/manager', '/a/b-c']);
    const refused: readonly (readonly [string, RegExp])[] = [
      ['manager', /must start with a slash \('\/'\)/],
      ['/manager/', /must not end with a slash \('\/'\)/],
      ['/a//b', /must not contain continuous slashes \('\/'\)/],
      ['/a/../b', /may contain letters/],
      ['/a b', /may contain letters/],
      ['/"><script>', /may contain letters/],
    ];
    for (const [value, message] of refused) assert.throws(() => path(value), message, value);
  });

  test('a declarative configuration that no node reads is a warning', () => {
    const { warnings } = load({ env: { KONG_DECLARATIVE_CONFIG: 'kong.yml' } });
    assert.deepEqual(warnings, [
      'declarative_config has no effect with database = sqlite; set database = off to use it',
    ]);
  });

  test('the fields that clients read have the form that they expect', () => {
    const shown = load({ env: { KONG_STATUS_LISTEN: 'off' } }).settings.public;
    assert.equal(shown['database'], 'postgres');
    assert.equal(shown['database_engine'], 'sqlite');
    assert.equal(shown['router_flavor'], 'traditional_compatible');
    assert.equal(shown['role'], 'traditional');
    assert.deepEqual(shown['admin_listen'], ['127.0.0.1:8001']);
    assert.deepEqual(shown['stream_listen'], ['off']);
    assert.deepEqual(shown['stream_listeners'], []);
    assert.equal(shown['proxy_stream_access_log'], 'logs/access.log basic');
    assert.deepEqual(shown['admin_gui_listen'], ['127.0.0.1:8002']);
    assert.equal((shown['admin_gui_listeners'] as readonly Record<string, unknown>[])[0]?.['port'], 8002);
    assert.deepEqual(shown['status_listen'], ['off']);
    assert.deepEqual(shown['status_listeners'], []);
    assert.equal(shown['pg_port'], 5432);
    assert.equal(shown['pg_ssl'], false);
    const [proxy] = shown['proxy_listeners'] as readonly Record<string, unknown>[];
    assert.equal(proxy?.['listener'], '0.0.0.0:8000 reuseport backlog=16384');
    assert.equal(proxy?.['backlog=16384'], true);
  });
});

test('relative plugins start at the folder of the file that sets them, whatever else it sets', () => {
  const conf = file('plugins = ./mine\n');
  const folderOf = (sources: SettingSources) => loadSettings({ conf, cwd: '/', ...sources }).settings.pluginFolder;
  assert.equal(folderOf({}), cwd);
  assert.equal(folderOf({ defaults: { plugins: 'off' }, env: { KONG_LOG_LEVEL: 'warn' } }), cwd);
  assert.equal(folderOf({ env: { KONG_PLUGINS: './other' } }), null);
  assert.equal(folderOf({ flags: { plugins: './other' } }), null);
  assert.equal(folderOf({ conf: file('log_level = warn\n') }), null);
});
