import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { skipWithoutSlapd, startSlapd, type TestSlapd } from '../../../test/support/slapd.ts';
import { until } from '../../../test/support/until.ts';
import { type PluginTest, testPlugin } from '../../plugin-testing/index.ts';
import ldapAuth from './index.ts';

const base = 'ou=people,dc=example,dc=test';
const required = { ldap_host: '127.0.0.1', base_dn: base, attribute: 'uid' };

function credentials(user: string, password: string, scheme = 'ldap'): string {
  return `${scheme} ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

function login(user: string, password: string) {
  return { headers: { Authorization: credentials(user, password) } };
}

describe('the configuration of ldap-auth', () => {
  const plugin = testPlugin(ldapAuth);

  it('has Kong defaults', async () => {
    const checked = await plugin.check(required);
    assert.ok(checked.ok);
    assert.deepEqual(checked.config, {
      ...required,
      ldap_port: 389,
      ldaps: false,
      start_tls: false,
      verify_ldap_host: false,
      cache_ttl: 60,
      hide_credentials: false,
      timeout: 10_000,
      keepalive: 60_000,
      anonymous: null,
      header_type: 'ldap',
      realm: null,
    });
  });

  it('requires the server, the base DN and the attribute', async () => {
    const checked = await plugin.check({});
    assert.ok(!checked.ok);
    for (const field of ['ldap_host', 'base_dn', 'attribute']) assert.match(checked.message, new RegExp(field));
  });

  it('allows only one of StartTLS and LDAPS', async () => {
    const checked = await plugin.check({ ...required, ldaps: true, start_tls: true });
    assert.ok(!checked.ok);
    assert.match(checked.message, /'ldaps' and 'start_tls' cannot be enabled simultaneously/);
    assert.match(checked.message, /config\.start_tls: value must be false/);
  });
});

describe('ldap-auth at a directory', { skip: skipWithoutSlapd() }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-ldap-auth-'));
  const tls = { cert: join(folder, 'server.crt'), key: join(folder, 'server.key') };
  const users = {
    ada: 'love:lace',
    'Grace, Hopper': 'cobol',
    ' #odd+"<>;=\\ ': 'odd',
    Zoë: 'ünï',
    changing: 'old',
  };
  let slapd: TestSlapd;
  const open: PluginTest[] = [];

  /** The plugin with this directory, without its cache, so that the directory decides on each request. */
  function plugin(config: Readonly<Record<string, unknown>> = {}, more = {}): PluginTest {
    const made = testPlugin(ldapAuth, {
      config: { ...required, ldap_port: slapd.port, cache_ttl: 0, ...config },
      ...more,
    });
    open.push(made);
    return made;
  }

  before(async () => {
    const subject = '/CN=ldap.test -addext subjectAltName=DNS:localhost';
    execFileSync(
      'openssl',
      `req -x509 -newkey rsa:2048 -nodes -days 2 -subj ${subject} -keyout ${tls.key} -out ${tls.cert}`.split(' '),
      { stdio: 'ignore' },
    );
    slapd = await startSlapd({ users, tls });
  });
  after(async () => {
    for (const one of open) await one.dispose();
    await slapd.stop();
    rmSync(folder, { recursive: true });
  });

  /** The number of binds so far. */
  let marks = 0;
  async function bindsSoFar(): Promise<number> {
    const mark = `mark-${++marks}`;
    await plugin().request(login(mark, 'x'));
    await until(() => slapd.binds.includes(`uid=${mark},${base}`));
    return slapd.binds.length;
  }

  it('accepts a user with the right password, and forwards the name', async () => {
    const { upstream, consumer } = await plugin().request(login('ada', 'love:lace'));
    assert.equal(upstream?.header('x-credential-identifier'), 'ada');
    assert.equal(upstream?.header('authorization'), credentials('ada', 'love:lace'));
    assert.equal(consumer, null);
  });

  it('strips identity headers that the client sent', async () => {
    const { upstream } = await plugin().request({
      headers: {
        ...login('ada', 'love:lace').headers,
        'X-Consumer-Username': 'root',
        'X-Credential-Identifier': 'root',
        'X-Anonymous-Consumer': 'true',
      },
    });
    assert.equal(upstream?.header('x-consumer-username'), null);
    assert.equal(upstream?.header('x-anonymous-consumer'), null);
    assert.equal(upstream?.header('x-credential-identifier'), 'ada');
  });

  it('refuses every other login with the same answer', async () => {
    const one = plugin();
    const bodies = new Set<string>();
    const attempts: readonly (Readonly<Record<string, string | readonly string[]>> | undefined)[] = [
      undefined,
      { Authorization: '' },
      { Authorization: 'ldap' },
      { Authorization: 'ldap ' },
      { Authorization: 'ldap !!!!' },
      { Authorization: `ldap ${Buffer.from('no colon').toString('base64')}` },
      { Authorization: credentials('', 'love:lace') },
      { Authorization: credentials('ada', '') },
      { Authorization: credentials('ada', '\0') },
      { Authorization: credentials('ada', '\0love:lace') },
      { Authorization: credentials('ada\0', 'love:lace') },
      { Authorization: credentials('ada', 'wrong') },
      { Authorization: credentials('nobody', 'love:lace') },
      { Authorization: credentials('ada', 'love:lace', 'basic') },
      { Authorization: `ldap ${Buffer.from([0xff, 0x3a, 0x61]).toString('base64')}` },
      { Authorization: credentials('a'.repeat(257), 'x') },
      { Authorization: credentials('ada', 'x'.repeat(20_000)) },
      { Authorization: [credentials('ada', 'love:lace'), credentials('ada', 'love:lace')] },
      { 'Proxy-Authorization': credentials('ada', 'wrong') },
    ];
    for (const headers of attempts) {
      const { response, upstream } = await one.request(headers === undefined ? {} : { headers });
      assert.equal(upstream, null, JSON.stringify(headers));
      assert.equal(response.status, 401, JSON.stringify(headers));
      assert.equal(response.header('www-authenticate'), 'LDAP');
      bodies.add(response.body.replace(/[0-9a-f]{32}/, ''));
    }
    assert.equal(bodies.size, 1);
    assert.match([...bodies][0] ?? '', /Unauthorized/);
    assert.deepEqual(one.logLines, []);
  });

  it('never sends an empty password, which this directory accepts for every user', async () => {
    const before = await bindsSoFar();
    const one = plugin();
    const latin1 = { headers: { Authorization: `ldap ${Buffer.from('ada:pass\xe9', 'latin1').toString('base64')}` } };
    for (const request of [login('ada', ''), login('ada', '\0'), login('ada', '\0love:lace'), latin1]) {
      assert.equal((await one.request(request)).response.status, 401);
    }
    assert.notEqual((await one.request(login('ada', 'love:lace'))).upstream, null);
    assert.equal(await bindsSoFar(), before + 2);
    assert.equal(slapd.binds[before], `uid=ada,${base}`);
  });

  it('finds users whose names have special characters', async () => {
    const one = plugin();
    for (const [user, password] of Object.entries(users)) {
      const { upstream, response } = await one.request(login(user, password));
      assert.notEqual(upstream, null, `${user}: ${response.body}`);
      assert.equal((await one.request(login(user, `${password}x`))).response.status, 401);
    }
  });

  it('escapes user names in the DN', async () => {
    slapd.modify(
      `dn: ou=admins,${base}\nchangetype: add\nobjectClass: organizationalUnit\nou: admins\n\n` +
        `dn: uid=root,ou=admins,${base}\nchangetype: add\nobjectClass: inetOrgPerson\nuid: root\ncn: r\nsn: r\nuserPassword: toor\n`,
    );
    const before = await bindsSoFar();
    const one = plugin();
    const names = [
      'root,ou=admins',
      `root,ou=admins,${base}`,
      'root\\,ou=admins',
      'ada+uid=root',
      'ada,ou=people,dc=example,dc=test#',
    ];
    for (const name of names) {
      for (const password of ['toor', 'love:lace']) {
        assert.equal((await one.request(login(name, password))).response.status, 401, name);
      }
    }
    assert.equal(await bindsSoFar(), before + 2 * names.length + 1);
    for (const bind of slapd.binds.slice(before)) assert.doesNotMatch(bind, /^uid=root,/);
  });

  it('tries Proxy-Authorization first, then Authorization', async () => {
    const one = plugin({ hide_credentials: true });
    const both = (proxy: string, own: string) => ({
      headers: { 'Proxy-Authorization': credentials('ada', proxy), Authorization: credentials('changing', own) },
    });
    const first = await one.request(both('love:lace', 'wrong'));
    assert.equal(first.upstream?.header('x-credential-identifier'), 'ada');
    assert.equal(first.upstream?.header('authorization'), null);
    assert.equal(first.upstream?.header('proxy-authorization'), null);
    const second = await one.request(both('wrong', 'old'));
    assert.equal(second.upstream?.header('x-credential-identifier'), 'changing');
    assert.equal((await one.request(both('wrong', 'wrong'))).response.status, 401);
  });

  it('accepts the configured scheme in any case, and sends a realm', async () => {
    const one = plugin({ header_type: 'basic', realm: 'the "wiki"' });
    const { upstream } = await one.request({ headers: { Authorization: credentials('ada', 'love:lace', 'BASIC') } });
    assert.notEqual(upstream, null);
    const { response } = await one.request(login('ada', 'love:lace'));
    assert.equal(response.header('www-authenticate'), 'basic realm="the \\"wiki\\""');
  });

  it('continues as the anonymous consumer without a valid login', async () => {
    const guest = { id: '5d1c7cba-6f3a-4a0e-8a43-9a6a3f5e0f5d', created_at: 1, username: 'guest' };
    const one = plugin({ anonymous: 'guest' }, { entities: { consumers: [guest] } });
    assert.equal((await one.request()).consumer?.username, 'guest');
    assert.equal((await one.request(login('ada', 'wrong'))).consumer?.username, 'guest');
    const known = await one.request(login('ada', 'love:lace'));
    assert.equal(known.consumer, null);
    assert.equal(known.upstream?.header('x-credential-identifier'), 'ada');
  });

  it('caches a verified login until cache_ttl', async () => {
    const one = plugin({ cache_ttl: 0.25 });
    assert.notEqual((await one.request(login('changing', 'old'))).upstream, null);
    const before = await bindsSoFar();
    slapd.modify(`dn: uid=changing,${base}\nchangetype: modify\nreplace: userPassword\nuserPassword: new\n`);
    assert.notEqual((await one.request(login('changing', 'old'))).upstream, null, 'it is remembered');
    assert.equal((await one.request(login('changing', 'old!'))).response.status, 401, 'another password is not');
    await until(async () => (await one.request(login('changing', 'old'))).upstream === null);
    assert.notEqual((await one.request(login('changing', 'new'))).upstream, null, 'refusals are not remembered');
    assert.ok((await bindsSoFar()) >= before + 4);
    slapd.modify(`dn: uid=changing,${base}\nchangetype: modify\nreplace: userPassword\nuserPassword: old\n`);
  });

  it('binds once for concurrent requests', async () => {
    const one = plugin({ cache_ttl: 60 });
    const before = await bindsSoFar();
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => one.request(login('ada', 'love:lace'))));
    assert.ok(outcomes.every(({ upstream }) => upstream !== null));
    assert.equal(await bindsSoFar(), before + 2);
  });

  it('reuses connections, and opens at most 16', async () => {
    await restart(slapd);
    const one = plugin();
    const many = Array.from({ length: 200 }, (_, at) => one.request(login('ada', `wrong ${at}`)));
    assert.deepEqual(new Set((await Promise.all(many)).map(({ response }) => response.status)), new Set([401]));
    assert.ok(slapd.connections <= 16, `${slapd.connections} connections`);
    await one.request(login('ada', 'love:lace'));
    assert.ok(slapd.connections <= 16, `${slapd.connections} connections`);
  });

  it('binds over StartTLS and over TLS from the first byte', async () => {
    for (const config of [{ start_tls: true }, { ldaps: true, ldap_port: slapd.tlsPort }]) {
      const one = plugin(config);
      assert.notEqual((await one.request(login('ada', 'love:lace'))).upstream, null);
      assert.equal((await one.request(login('ada', 'wrong'))).response.status, 401);
      assert.deepEqual(one.logLines, []);
    }
  });

  it('verifies the host if configured', async () => {
    const settings = { trustedCertificates: tls.cert };
    for (const config of [{ start_tls: true }, { ldaps: true, ldap_port: slapd.tlsPort }]) {
      const verified = { ...config, verify_ldap_host: true };
      const trusted = plugin({ ...verified, ldap_host: 'localhost' }, { settings });
      assert.notEqual((await trusted.request(login('ada', 'love:lace'))).upstream, null);
      const before = await bindsSoFar();
      for (const [other, why] of [
        [plugin({ ...verified, ldap_host: 'localhost' }), /self-signed certificate/],
        [plugin(verified, { settings }), /not in the cert's list|does not match/],
      ] as const) {
        assert.equal((await other.request(login('ada', 'love:lace'))).response.status, 503);
        assert.match(String(other.logLines[0]?.fields['reason']), why);
      }
      assert.equal(await bindsSoFar(), before + 1, 'no password was sent to a host that is not the right one');
    }
  });

  it('recovers from idle connections that a restart of the directory closed', async () => {
    const one = plugin();
    assert.notEqual((await one.request(login('ada', 'love:lace'))).upstream, null);
    await restart(slapd);
    assert.notEqual((await one.request(login('ada', 'love:lace'))).upstream, null);
    assert.deepEqual(one.logLines, []);
  });

  it('answers 503 while the directory is down, logs and counts it, and never continues as anonymous', async () => {
    const one = plugin({ anonymous: 'guest' });
    await slapd.kill();
    try {
      const { response, upstream } = await one.request(login('ada', 'love:lace'));
      assert.equal(upstream, null);
      assert.equal(response.status, 503);
      assert.match(response.body, /Service temporarily unavailable/);
      assert.equal(one.counts.get('ldap-auth.ldap_failures'), 1);
      assert.equal(one.logLines[0]?.message, 'the LDAP server is unavailable');
      assert.doesNotMatch(JSON.stringify(one.logLines), /love|bG92/);
    } finally {
      await slapd.restart();
    }
    assert.notEqual((await one.request(login('ada', 'love:lace'))).upstream, null);
  });

  it('times out on a hanging directory, and refuses at once when the queue is full', async () => {
    const one = plugin({ timeout: 400, cache_ttl: 60 });
    assert.notEqual((await one.request(login('ada', 'love:lace'))).upstream, null);
    slapd.hang();
    try {
      const begun = performance.now();
      const many = Array.from({ length: 500 }, (_, at) => one.request(login('ada', `wrong ${at}`)));
      const statuses = (await Promise.all(many)).map(({ response }) => response.status);
      assert.ok(performance.now() - begun < 10_000);
      assert.deepEqual(new Set(statuses), new Set([503]));
      const reasons = new Set(one.logLines.map(({ fields }) => fields['reason']));
      assert.ok(reasons.has('no answer in 400 ms'));
      assert.ok(reasons.has('too many logins are waiting'));
      assert.equal(one.counts.get('ldap-auth.ldap_failures'), 500);
      assert.ok(one.logLines.length < 20, 'the log is not flooded');
      assert.notEqual((await one.request(login('ada', 'love:lace'))).upstream, null, 'verified logins go on to work');
    } finally {
      slapd.resume();
    }
    await until(async () => (await one.request(login('Zoë', 'ünï'))).upstream !== null);
  });
});

describe('ldap-auth at a server that breaks the protocol', () => {
  /** A plugin with a server that answers the first bytes of each connection with these. */
  async function against(answer: (socket: Socket, data: Buffer) => void, config = {}) {
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('data', (data) => answer(socket, data));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    const plugin = testPlugin(ldapAuth, {
      config: { ...required, ldap_port: address.port, timeout: 500, ...config },
    });
    return {
      plugin,
      close: async () => {
        await plugin.dispose();
        for (const socket of sockets) socket.destroy();
        server.close();
      },
    };
  }

  const success = Buffer.from('300c02010161070a010004000400', 'hex');
  const answers: readonly (readonly [string, Buffer | null, RegExp])[] = [
    ['no LDAP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), /no LDAP/],
    ['an answer of 2 GB', Buffer.from('30847fffffff020101', 'hex'), /no LDAP/],
    ['an indefinite length', Buffer.from('3080', 'hex'), /does not allow/],
    ['a length beyond its frame', Buffer.from('300c02010161700a010004000400', 'hex'), /malformed/],
    ['an empty message', Buffer.from('3000', 'hex'), /malformed/],
    ['an answer to another request', Buffer.from('300c02010261070a010004000400', 'hex'), /ends the connection \(0\)/],
    ['an answer of another kind', Buffer.from('300c02010178070a010004000400', 'hex'), /ends the connection \(0\)/],
    ['a search result', Buffer.from('300c02010165070a010004000400', 'hex'), /unexpected response/],
    ['two answers', Buffer.concat([success, success]), /more than its answer/],
    ['half an answer', success.subarray(0, 7), /no answer in 500 ms/],
    ['a closed connection', null, /closed the connection/],
    ['that it is busy', Buffer.from('300c02010161070a013304000400', 'hex'), /does not take binds \(51\)/],
    ['that it wants TLS', Buffer.from('300c02010161070a010d04000400', 'hex'), /does not take binds \(13\)/],
    ['that it refers to another one', Buffer.from('300c02010161070a010a04000400', 'hex'), /does not take binds \(10\)/],
  ];
  for (const [what, bytes, why] of answers) {
    test(`answers 503 and accepts no login: ${what}`, async () => {
      const { plugin, close } = await against((socket) => {
        if (bytes === null) socket.destroy();
        else socket.write(bytes);
      });
      const { upstream, response } = await plugin.request(login('ada', 'x'));
      assert.equal(upstream, null);
      assert.equal(response.status, 503);
      assert.match(String(plugin.logLines[0]?.fields['reason']), why);
      await close();
    });
  }

  test('retries a login whose connection closes during its second use', async () => {
    const seen = new Map<Socket, number>();
    const { plugin, close } = await against(
      (socket) => {
        const before = seen.get(socket) ?? 0;
        seen.set(socket, before + 1);
        if (before === 0) socket.write(success);
        else socket.destroy();
      },
      { cache_ttl: 0 },
    );
    for (let at = 0; at < 3; at++) assert.notEqual((await plugin.request(login('ada', 'x'))).upstream, null);
    assert.deepEqual([...seen.values()], [2, 2, 1]);
    await close();
  });

  test('reads an answer that arrives byte by byte', async () => {
    const { plugin, close } = await against((socket) => {
      let at = 0;
      const next = (): void => {
        if (at < success.byteLength) socket.write(success.subarray(at, ++at), () => setImmediate(next));
      };
      socket.setNoDelay(true);
      next();
    });
    assert.notEqual((await plugin.request(login('ada', 'x'))).upstream, null);
    await close();
  });

  test('ignores bytes sent together with the answer to StartTLS', async () => {
    const startTls = Buffer.from('300c02010178070a010004000400', 'hex');
    // The start of a message that would swallow the real answer to the bind.
    const forged = Buffer.from('301a02010261150a01000400040e', 'hex');
    const { plugin, close } = await against((socket) => void socket.write(Buffer.concat([startTls, forged])), {
      start_tls: true,
    });
    assert.equal((await plugin.request(login('ada', 'x'))).response.status, 503);
    assert.match(String(plugin.logLines[0]?.fields['reason']), /more than its answer/);
    await close();
  });

  test('sends no password to a server without TLS when TLS is required', async () => {
    const refused = Buffer.from('300c02010178070a010204000400', 'hex');
    const seen: Buffer[] = [];
    const { plugin, close } = await against(
      (socket, data) => {
        seen.push(data);
        socket.write(refused);
      },
      { start_tls: true },
    );
    assert.equal((await plugin.request(login('ada', 'secret'))).response.status, 503);
    assert.match(String(plugin.logLines[0]?.fields['reason']), /StartTLS was refused \(2\)/);
    assert.doesNotMatch(Buffer.concat(seen).toString('latin1'), /secret/);
    await close();
  });
});

async function restart(slapd: TestSlapd): Promise<void> {
  await slapd.kill();
  await slapd.restart();
}
