import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestAdmin, type TestAdmin } from './admin.fixture.ts';
import { authority, firstCertificate, secondCertificate } from './certificate.fixture.ts';

let admin: TestAdmin;
const absent = '00000000-0000-4000-8000-00000000ffff';
let first = '';

before(async () => {
  admin = await startTestAdmin();
});
after(() => admin[Symbol.asyncDispose]());

async function sniNames(): Promise<unknown> {
  const { json } = await admin.call('GET', '/snis');
  return (json['data'] as { name: string }[]).map(({ name }) => name).toSorted();
}

test('a certificate is created with its SNIs, which are shown sorted', async () => {
  const answer = await admin.call('POST', '/certificates', { ...firstCertificate, snis: ['b.test', 'a.test'] });
  assert.equal(answer.status, 201, answer.text);
  first = String(answer.json['id']);
  assert.deepEqual(answer.json['snis'], ['a.test', 'b.test']);
  assert.deepEqual(await sniNames(), ['a.test', 'b.test']);
  const listed = (await admin.call('GET', '/certificates')).json['data'] as { snis: unknown }[];
  assert.deepEqual(listed[0]?.snis, ['a.test', 'b.test']);
});

test('it is found by its id and by its SNIs', async () => {
  for (const segment of [first, 'a.test', 'b.test']) {
    assert.equal((await admin.call('GET', `/certificates/${segment}`)).json['id'], first);
  }
  const snis = (await admin.call('GET', '/certificates/a.test/snis')).json['data'] as { name: string }[];
  assert.equal(snis.length, 2);
});

test('each missing entity has its own message', async () => {
  for (const [method, path] of [
    ['GET', '/certificates/none.test'],
    ['PATCH', '/certificates/none.test'],
    ['DELETE', '/certificates/none.test'],
    ['GET', '/certificates/none.test/snis'],
  ] as const) {
    const answer = await admin.call(method, path);
    assert.equal(answer.status, 404, path);
    assert.deepEqual(answer.json, { message: 'SNI not found' });
  }
  const byId = await admin.call('GET', `/certificates/${absent}`);
  assert.equal(byId.status, 404);
  assert.equal(byId.json['code'], 6);
});

test('a SNI of another certificate, a repeated one and an address are refused and change nothing', async () => {
  const post = (snis: readonly string[]) => admin.call('POST', '/certificates', { ...secondCertificate, snis });
  const taken = await post(['c.test', 'a.test']);
  assert.equal(taken.status, 400);
  assert.equal(
    taken.json['message'],
    `schema violation (snis: a.test already associated with existing certificate '${first}')`,
  );
  assert.equal((await post(['c.test', 'c.test'])).json['message'], 'schema violation (snis: c.test is duplicated)');
  const address = await post(['c.test', '10.0.0.1']);
  assert.equal(address.status, 400);
  assert.equal(address.json['code'], 10);
  assert.equal(await admin.store.count('certificates'), 1);
  assert.deepEqual(await sniNames(), ['a.test', 'b.test']);
});

test('PATCH without snis keeps them, with snis replaces them', async () => {
  assert.deepEqual((await admin.call('PATCH', `/certificates/${first}`, { tags: ['x'] })).json['snis'], [
    'a.test',
    'b.test',
  ]);
  const changed = await admin.call('PATCH', '/certificates/a.test', { snis: ['b.test', 'd.test'] });
  assert.deepEqual(changed.json['snis'], ['b.test', 'd.test']);
  assert.deepEqual(await sniNames(), ['b.test', 'd.test']);
});

test('PUT without snis leaves the certificate with none', async () => {
  const put = await admin.call('PUT', `/certificates/${first}`, firstCertificate);
  assert.equal(put.status, 200);
  assert.deepEqual(put.json['snis'], []);
  assert.deepEqual(await sniNames(), []);
});

test('PUT to an unknown SNI creates a certificate, with that SNI when the body has any', async () => {
  const put = await admin.call('PUT', '/certificates/new.test', { ...secondCertificate, snis: ['e.test'] });
  assert.equal(put.status, 200, put.text);
  assert.notEqual(put.json['id'], first);
  assert.deepEqual(put.json['snis'], ['e.test', 'new.test']);
  const again = await admin.call('PUT', '/certificates/new.test', { ...secondCertificate, snis: [] });
  assert.equal(again.json['id'], put.json['id']);
  assert.deepEqual(again.json['snis'], ['new.test']);
});

test('a key that does not match is refused', async () => {
  const answer = await admin.call('POST', '/certificates', { cert: firstCertificate.cert, key: secondCertificate.key });
  assert.equal(answer.status, 400);
  assert.deepEqual(answer.json['fields'], { '@entity': ['certificate does not match key'] });
});

test('a certificate in use is not deleted; its SNIs are deleted with it', async () => {
  const service = await admin.call('POST', '/services', {
    name: 'tls',
    url: 'https://a.test',
    client_certificate: { id: first },
  });
  assert.equal(service.status, 201, service.text);
  const refused = await admin.call('DELETE', `/certificates/${first}`);
  assert.equal(refused.status, 400);
  assert.equal(refused.json['code'], 4);
  const below = (await admin.call('GET', `/certificates/${first}/services`)).json['data'] as unknown[];
  assert.equal(below.length, 1);
  assert.equal((await admin.call('DELETE', '/certificates/new.test')).status, 204);
  assert.deepEqual(await sniNames(), []);
});

test('SNIs refer to certificates, and the reverse is not a path', async () => {
  const sni = await admin.call('POST', '/snis', { name: 'f.test', certificate: { id: first } });
  assert.equal(sni.status, 201);
  assert.equal((await admin.call('GET', '/snis/f.test/certificate')).status, 404);
  assert.equal((await admin.call('POST', '/snis', { name: 'f.test', certificate: { id: first } })).status, 409);
});

test('an authority that a service names cannot be deleted', async () => {
  const created = await admin.call('POST', '/ca_certificates', { cert: authority });
  assert.equal(created.status, 201, created.text);
  const id = String(created.json['id']);
  assert.match(String(created.json['cert_digest']), /^[0-9a-f]{64}$/);
  assert.equal((await admin.call('POST', '/ca_certificates', { cert: authority })).status, 409);
  const service = await admin.call('PATCH', '/services/tls', { ca_certificates: [id] });
  const refused = await admin.call('DELETE', `/ca_certificates/${id}`);
  assert.equal(refused.status, 400);
  assert.deepEqual(refused.json, {
    code: 19,
    name: 'referenced by others',
    message: `ca certificate ${id} is still referenced by services (id = ${String(service.json['id'])})`,
  });
  await admin.call('PATCH', '/services/tls', { ca_certificates: null });
  assert.equal((await admin.call('DELETE', `/ca_certificates/${id}`)).status, 204);
});
