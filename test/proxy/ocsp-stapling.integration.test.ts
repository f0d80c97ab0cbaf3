import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import { type Rig, startRig } from '../support/rig.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluicegate-ocsp-'));
let rig: Rig;

before(async () => {
  rig = await startRig({ env: { KONG_PROXY_LISTEN: '127.0.0.1:0, 127.0.0.1:0 ssl' } });
});
after(async () => {
  await rig.close();
  rmSync(folder, { recursive: true });
});

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', [...args], { cwd: folder, stdio: 'ignore' });
}

/** A certificate of a small authority, and the OCSP response of that authority. */
function makeCertificate(): { readonly cert: string; readonly key: string; readonly ocsp: string } {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...curve, '-days', '2', '-subj', '/CN=authority', '-keyout', 'ca.key', '-out', 'ca.crt');
  openssl('req', ...curve, '-subj', '/CN=stapled.test', '-keyout', 'leaf.key', '-out', 'leaf.csr');
  openssl(
    'x509',
    '-req',
    '-in',
    'leaf.csr',
    '-CA',
    'ca.crt',
    '-CAkey',
    'ca.key',
    '-set_serial',
    '7',
    '-out',
    'leaf.crt',
  );
  const until = new Date(Date.now() + 86_400_000)
    .toISOString()
    .replace(/[-:T]|\.\d+/g, '')
    .slice(2);
  writeFileSync(join(folder, 'index'), `V\t${until}\t\t07\tunknown\t/CN=stapled.test\n`);
  openssl('ocsp', '-issuer', 'ca.crt', '-cert', 'leaf.crt', '-no_nonce', '-reqout', 'request');
  const by = ['-CA', 'ca.crt', '-rsigner', 'ca.crt', '-rkey', 'ca.key', '-ndays', '1'];
  openssl('ocsp', '-index', 'index', ...by, '-reqin', 'request', '-respout', 'response');
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  return { cert: read('leaf.crt'), key: read('leaf.key'), ocsp: readFileSync(join(folder, 'response'), 'base64') };
}

/** The OCSP response that a client receives on request; null: none. */
function stapled(servername: string): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const port = rig.gateway.proxyTlsPort;
    const socket = connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false, requestOCSP: true });
    let response: Buffer | null = null;
    socket.on('OCSPResponse', (given: Buffer | null) => {
      response = given === null || given.length === 0 ? null : given;
    });
    socket.on('error', reject);
    socket.on('secureConnect', () => {
      socket.destroy();
      resolve(response);
    });
  });
}

test('a certificate is served with its OCSP response, also after the response was renewed', async () => {
  const { cert, key, ocsp } = makeCertificate();
  const made = await rig.write('POST', '/certificates', { cert, key, snis: ['stapled.test'] });
  assert.equal(await stapled('stapled.test'), null);
  await rig.write('PATCH', `/certificates/${made['id']}`, { ocsp_response: ocsp });
  assert.equal((await stapled('stapled.test'))?.toString('base64'), ocsp);
  assert.equal(await stapled('localhost'), null);
  await rig.write('PATCH', `/certificates/${made['id']}`, { ocsp_response: null });
  assert.equal(await stapled('stapled.test'), null);
});

test('refuses bytes that are not an OCSP response', async () => {
  const { cert, key } = makeCertificate();
  for (const ocsp_response of ['?', 'aGVsbG8=', '']) {
    const answer = await rig.gateway.admin('POST', '/certificates', { cert, key, ocsp_response });
    assert.equal(answer.status, 400, ocsp_response);
  }
});
