import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSnapshot, delta, routeAt, routeRow, serviceRow, upstreamRow } from './snapshot.fixture.ts';

test('services of equal TLS share an identity, others do not', () => {
  const snapshot = createSnapshot();
  const secure = { protocol: 'https', port: 443 };
  const certificate = { id: 'c', created_at: 1, cert: 'PEM', key: 'KEY' };
  const authority = { id: 'ca', created_at: 1, cert: 'CA' };
  const services = [
    serviceRow('plain'),
    serviceRow('one', secure),
    serviceRow('two', secure),
    serviceRow('verified', { ...secure, tls_verify: true }),
    serviceRow('authority', { ...secure, tls_verify: true, ca_certificates: ['ca'] }),
    serviceRow('client', { ...secure, client_certificate: { id: 'c' } }),
    serviceRow('pooled', { ...secure, host: 'pool' }),
  ];
  const upstreams = [upstreamRow('u', 'pool', { client_certificate: { id: 'c' } })];
  const routes = services.map(({ id }) => routeRow(id, id));
  const failures = snapshot.apply(
    delta({ services, routes, upstreams, certificates: [certificate], ca_certificates: [authority] }),
  );
  assert.deepEqual(failures, []);
  const tls = (id: string) => routeAt(snapshot, `/${id}`)?.service?.tls ?? null;
  assert.equal(tls('plain'), null);
  assert.equal(tls('one')?.identity, tls('two')?.identity);
  const identities = ['one', 'verified', 'authority', 'client'].map((id) => tls(id)?.identity);
  assert.equal(new Set(identities).size, 4);
  assert.equal(tls('pooled')?.identity, tls('client')?.identity, 'the certificate of the upstream serves');
  assert.deepEqual(tls('authority')?.ca, ['CA']);
  assert.equal(tls('client')?.key, 'KEY');
});

test('a CA certificate that is missing matters only where it is used', () => {
  const snapshot = createSnapshot();
  const secure = { protocol: 'https', port: 443, ca_certificates: ['missing'] };
  const services = [serviceRow('verified', { ...secure, tls_verify: true }), serviceRow('not', secure)];
  assert.deepEqual(snapshot.apply(delta({ services })), [
    { entity: 'services', id: 'verified', reason: 'the CA certificate missing is missing' },
  ]);
});
