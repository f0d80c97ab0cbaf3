import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect } from 'node:tls';
import { selfSignedCertificate } from '../../src/shared/tls/self-signed.ts';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { Clients, http1 } from '../support/load-clients.ts';
import { type NodeInPrefix, startNodeInPrefix } from '../support/node-in-prefix.ts';
import { until } from '../support/until.ts';

/** Fingerprint of the certificate that a listener shows. */
async function shownBy(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

describe('a reload', () => {
  let backend: TestBackend;
  let node: NodeInPrefix;
  let base: Record<string, string>;
  let ports: { readonly proxy: number; readonly tls: number; readonly adminTls: number };

  const configure = (settings: Readonly<Record<string, string>> = {}): void => node.configure({ ...base, ...settings });
  const writePair = (): void => {
    const { cert, key } = selfSignedCertificate(10);
    writeFileSync(join(node.prefix, 'own.crt'), cert);
    writeFileSync(join(node.prefix, 'own.key'), key);
  };

  before(async () => {
    backend = await startBackend();
    node = await startNodeInPrefix(
      {
        KONG_PROXY_LISTEN: '127.0.0.1:0, 127.0.0.1:0 ssl',
        KONG_ADMIN_LISTEN: '127.0.0.1:0, 127.0.0.1:0 ssl',
      },
      { nginx_worker_processes: '1', trusted_ips: '', admin_token: '' },
    );
    base = { nginx_worker_processes: '1' };
    const found = (name: string) =>
      [...(new RegExp(`^ {2}${name} +(.*)$`, 'm').exec(node.first.output())?.[1] ?? '').matchAll(/:(\d+)/g)].map(
        ([, port]) => Number(port),
      );
    const [proxy = 0, tls = 0] = found('proxy');
    ports = { proxy, tls, adminTls: found('admin')[1] ?? 0 };
    await node.admin('PUT', '/services/s', { url: backend.url });
    await node.admin('PUT', '/services/s/routes/r', { paths: ['/'] });
  });
  after(async () => {
    await node[Symbol.asyncDispose]();
    await backend.close();
  });

  test('without a change says so, and reopens the logs', async () => {
    const log = join(node.prefix, 'logs', 'access.log');
    configure();
    renameSync(log, `${log}.1`);
    const { code, output } = await node.run('reload');
    assert.equal(code, 0);
    assert.equal(output, 'Sluicegate reloaded\n');
    await http1(ports.proxy, false, '/after-the-reload');
    await until(() => readFileSync(log, 'utf8').includes('/after-the-reload'));
  });

  test('changes the log level, the trusted addresses and the token of the Admin API', async () => {
    configure({ log_level: 'debug', trusted_ips: '127.0.0.0/8', admin_token: 'a-new-token' });
    const { code, output } = await node.run('reload');
    assert.equal(code, 0, output);
    assert.match(output, /^applied: (?=.*\blog_level\b)(?=.*\btrusted_ips\b)(?=.*\badmin_token\b)/m);
    const url = node.first.url('admin');
    assert.equal((await fetch(url, { headers: { Connection: 'close' } })).status, 401);
    const answer = await fetch(url, { headers: { Authorization: 'Bearer a-new-token', Connection: 'close' } });
    const { configuration } = (await answer.json()) as { configuration: Record<string, unknown> };
    assert.equal(configuration['log_level'], 'debug');
    assert.deepEqual(configuration['trusted_ips'], ['127.0.0.0/8']);
    assert.equal(configuration['admin_token'], '******');
    await until(async () => {
      const response = await fetch(`http://127.0.0.1:${ports.proxy}/`, { headers: { 'X-Real-IP': '192.0.2.7' } });
      const { headers } = (await response.json()) as { headers: Record<string, string> };
      return headers['x-real-ip'] === '192.0.2.7';
    });
    configure();
    assert.equal((await node.run('reload')).code, 0);
    assert.equal((await fetch(url, { headers: { Connection: 'close' } })).status, 200);
  });

  test('shows the certificates that are in the files now, on every listener', async () => {
    const before = await shownBy(ports.tls);
    const pair = { ssl_cert: join(node.prefix, 'own.crt'), ssl_cert_key: join(node.prefix, 'own.key') };
    writePair();
    configure(pair);
    assert.match((await node.run('reload')).output, /^applied: ssl_cert, ssl_cert_key$/m);
    await until(async () => (await shownBy(ports.tls)) !== before);
    const own = await shownBy(ports.tls);
    assert.equal(await shownBy(ports.adminTls), own);
    writePair();
    assert.equal((await node.run('reload')).code, 0);
    await until(async () => (await shownBy(ports.tls)) !== own);
    assert.notEqual(await shownBy(ports.adminTls), own);
  });

  test('changes nothing when a setting or a certificate is not valid, and prints the reason', async () => {
    const before = await shownBy(ports.tls);
    const pair = { ssl_cert: join(node.prefix, 'own.crt'), ssl_cert_key: join(node.prefix, 'own.key') };
    configure({ ...pair, log_level: 'loud' });
    const invalid = await node.run('reload');
    assert.equal(invalid.code, 1);
    assert.match(invalid.output, /log_level/);
    writeFileSync(join(node.prefix, 'own.key'), selfSignedCertificate(10).key);
    configure({ ...pair, log_level: 'debug' });
    const mismatched = await node.run('reload');
    assert.equal(mismatched.code, 1);
    assert.match(mismatched.output, /ssl_cert and ssl_cert_key cannot be used/);
    assert.equal(await shownBy(ports.tls), before);
    const { configuration } = (await node.admin('GET', '/')) as { configuration: Record<string, unknown> };
    assert.equal(configuration['log_level'], 'notice', 'no step was applied');
    configure();
    assert.equal((await node.run('reload')).code, 0);
  });

  test('names what needs a restart', async () => {
    configure({ drain_timeout: '31s', hash_keys: 'on' });
    const { code, output } = await node.run('reload');
    assert.equal(code, 0);
    assert.match(output, /^needs a restart \(sluicegate upgrade\): (?=.*\bdrain_timeout\b)(?=.*\bhash_keys\b)/m);
    configure();
    assert.equal((await node.run('reload')).output, 'Sluicegate reloaded\n');
  });

  test('loses no request and leaks nothing', async () => {
    const pid = await node.pid();
    const descriptors = (): number => readdirSync(`/proc/${pid}/fd`).length;
    const memory = (): number => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
    const agent = new Agent({ keepAlive: true });
    using clients = new Clients();
    clients.add('keep-alive', 2, () => http1(ports.proxy, agent, '/'));
    clients.add('new connections', 1, () => http1(ports.proxy, false, '/'));
    const pair = { ssl_cert: join(node.prefix, 'own.crt'), ssl_cert_key: join(node.prefix, 'own.key') };
    const outcome = join(node.prefix, 'pids', 'reload.json');
    const serial = (): number => (JSON.parse(readFileSync(outcome, 'utf8')) as { serial: number }).serial;
    const reloads = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at++) {
        const last = serial();
        writePair();
        configure(at % 2 === 0 ? { ...pair, trusted_ips: '127.0.0.1' } : pair);
        process.kill(pid, 'SIGHUP');
        await until(() => serial() > last);
      }
    };
    await reloads(5);
    const [open, used] = [descriptors(), memory()];
    await reloads(20);
    assert.deepEqual(await clients.stop(), []);
    agent.destroy();
    assert.ok(descriptors() <= open + 5, `${open} descriptors before, ${descriptors()} after`);
    assert.ok(memory() <= used + 60_000, `${used} kB before, ${memory()} kB after`);
    assert.doesNotMatch(node.first.output(), /reload failed: (?!.*(?:log_level|cannot be used))/);
  });

  test('applies the plugins and the number of workers by a new process', async () => {
    const pid = await node.pid();
    configure({ plugins: 'key-auth', nginx_worker_processes: '2' });
    const { code, output } = await node.run('reload');
    assert.equal(code, 0, output);
    assert.match(output, /^applied by a new process: (?=.*\bplugins\b)(?=.*\bnginx_worker_processes\b)/m);
    assert.notEqual(await node.pid(), pid);
    const about = await node.admin('GET', '/');
    assert.deepEqual(Object.keys((about['plugins'] as { available_on_server: object }).available_on_server), [
      'key-auth',
    ]);
    await http1(ports.proxy, false, '/');
  });
});
