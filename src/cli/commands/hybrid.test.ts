import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { run } from '../run.ts';

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'cli-hybrid-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

async function hybrid(...words: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const print = { out: (line: string) => out.push(line), err: (line: string) => err.push(line) };
  const code = await run(['hybrid', ...words], { env: {}, cwd, ...print });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

test('writes a certificate and its key, for three years', async () => {
  const [certPath, keyPath] = [join(cwd, 'cluster.crt'), join(cwd, 'cluster.key')];
  assert.deepEqual(await hybrid('gen_cert'), {
    code: 0,
    out: `Successfully generated certificate/key pairs, they have been written to: '${certPath}' and '${keyPath}'.`,
    err: '',
  });
  const certificate = new X509Certificate(readFileSync(certPath));
  assert.ok(certificate.checkPrivateKey(createPrivateKey(readFileSync(keyPath))));
  assert.equal(certificate.subject, 'CN=kong_clustering');
  assert.equal(Math.round((Date.parse(certificate.validTo) - Date.now()) / 86_400_000), 1095);
  assert.equal(statSync(keyPath).mode & 0o777, 0o600);
});

test('takes the names of the files and the number of days', async () => {
  assert.equal((await hybrid('gen_cert', 'a.pem', 'b.pem', '-d', '30')).code, 0);
  const certificate = new X509Certificate(readFileSync(join(cwd, 'a.pem')));
  assert.equal(Math.round((Date.parse(certificate.validTo) - Date.now()) / 86_400_000), 30);
  assert.ok(existsSync(join(cwd, 'b.pem')));
});

test('never overwrites a file, and leaves no certificate without its key', async () => {
  writeFileSync(join(cwd, 'cluster.key'), 'mine');
  const { code, err } = await hybrid('gen_cert');
  assert.deepEqual([code, err], [1, `Error: file already exists: '${join(cwd, 'cluster.key')}'`]);
  assert.equal(readFileSync(join(cwd, 'cluster.key'), 'utf8'), 'mine');
  assert.equal(existsSync(join(cwd, 'cluster.crt')), false);
});

test('refuses anything else', async () => {
  assert.match((await hybrid()).err, /^Error: usage: sluicegate hybrid gen_cert/);
  assert.match((await hybrid('gen_key')).err, /^Error: usage: sluicegate hybrid gen_cert/);
  assert.equal((await hybrid('gen_cert', '-d', '0')).err, "Error: --days must be from 1 to 7300, not '0'");
  assert.equal((await hybrid('gen_cert', '-d', '1e3')).err, "Error: --days must be from 1 to 7300, not '1e3'");
});

test('commands about the config of a data plane name the control plane', async () => {
  const env = {
    KONG_ROLE: 'data_plane',
    KONG_CLUSTER_CERT: '/a.pem',
    KONG_CLUSTER_CERT_KEY: '/b.pem',
    KONG_PREFIX: cwd,
  };
  for (const [words, message] of [
    [
      ['config', 'export'],
      'Error: a data plane has no config of its own: run this command on a control plane, or pass --admin',
    ],
    [['admin-user', 'list', '--store'], 'Error: a data plane has no admin users: run this command on a control plane'],
  ] as const) {
    const err: string[] = [];
    const print = { out: () => {}, err: (line: string) => err.push(line) };
    assert.equal(await run([...words], { env, cwd, ...print }), 1);
    assert.deepEqual(err, [message]);
  }
});
