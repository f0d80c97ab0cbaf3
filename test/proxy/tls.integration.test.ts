import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { answer, answerEach } from '../support/raw-backend.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { testSettings } from '../support/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluicegate-tls-'));

function selfSigned(name: string): { readonly cert: string; readonly key: string } {
  const key = join(folder, `${name}.key`);
  const cert = join(folder, `${name}.crt`);
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-subj',
    ].concat(`/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`, '-keyout', key, '-out', cert),
    { stdio: 'ignore' },
  );
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}

function get(
  port: number,
  servername: string,
  path = '/tls',
): Promise<{ readonly subject: string; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false }, () => {
      const subject = String(socket.getPeerCertificate().subject.CN);
      let text = '';
      socket.on('data', (data) => {
        text += data.toString('latin1');
      });
      socket.on('end', () => resolve({ subject, text }));
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${servername}\r\nConnection: close\r\n\r\n`);
    });
    socket.on('error', reject);
  });
}

describe('a TLS listener', () => {
  const own = selfSigned('gateway.test');
  const other = selfSigned('other.test');
  let rig: Rig;
  let port: number;
  before(async () => {
    const [plain] = testSettings({ prefix: folder }).proxyListen;
    assert.ok(plain !== undefined);
    rig = await startRig({
      script: answerEach((request) =>
        request.target === '/broken'
          ? 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\nno size\r\n'
          : answer('ok'),
      ),
      settings: { proxyListen: [{ ...plain, ssl: true }], sslCert: [own.cert], sslCertKey: [own.key] },
    });
    port = rig.gateway.proxyTlsPort;
  });
  after(async () => {
    await rig.close();
    rmSync(folder, { recursive: true });
  });

  it('serves requests with its own certificate and forwards the scheme', async () => {
    const { subject, text } = await get(port, 'gateway.test');
    assert.equal(subject, 'gateway.test');
    assert.match(text, /^HTTP\/1\.1 200 /);
    assert.match(rig.backend.received, /X-Forwarded-Proto: https\r\n/);
  });

  it('serves the certificate of a server name as soon as the Admin API has answered', async () => {
    await rig.write('POST', '/certificates', { ...other, snis: ['other.test'] });
    assert.equal((await get(port, 'other.test')).subject, 'other.test');
    assert.equal((await get(port, 'gateway.test')).subject, 'gateway.test');
  });

  it('aborts a transfer when the backend does, and keeps serving', async () => {
    const { text } = await get(port, 'gateway.test', '/broken');
    assert.match(text, /\r\n\r\n5\r\nshort\r\n$/);
    assert.match((await get(port, 'gateway.test')).text, /^HTTP\/1\.1 200 /);
  });

  it('refuses a client that speaks plain HTTP', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/`).catch((error: Error) => error);
    assert.ok(response instanceof Error);
  });
});
