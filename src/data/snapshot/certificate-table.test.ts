import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSnapshot, delta } from './snapshot.fixture.ts';

function sni(id: string, name: string, certificate: string) {
  return { id, created_at: 1, name, certificate: { id: certificate } };
}

const certificates = ['exact', 'suffix', 'deep', 'prefix', 'all'].map((id) => ({
  id,
  created_at: 1,
  cert: '',
  key: '',
}));

test('finds the certificate of the most specific server name', () => {
  const snapshot = createSnapshot();
  assert.equal(snapshot.certificateFor('example.com'), null);
  const snis = [
    sni('1', 'www.example.com', 'exact'),
    sni('2', '*.example.com', 'suffix'),
    sni('3', '*.deep.example.com', 'deep'),
    sni('4', 'www.example.*', 'prefix'),
  ];
  assert.deepEqual(snapshot.apply(delta({ certificates, snis })), []);
  const found = (name: string): string | null => snapshot.certificateFor(name)?.id ?? null;
  assert.equal(found('www.example.com'), 'exact');
  assert.equal(found('WWW.example.com.'), 'exact');
  assert.equal(found('api.example.com'), 'suffix');
  assert.equal(found('a.deep.example.com'), 'deep');
  assert.equal(found('www.example.org'), 'prefix');
  assert.equal(found('example.com'), null);
  snapshot.apply(delta({ snis: [sni('5', '*', 'all')] }, { snis: ['1'] }));
  assert.equal(found('www.example.com'), 'suffix');
  assert.equal(found('elsewhere.test'), 'all');
});

test('a server name moves to another certificate, and is removed with it', () => {
  const snapshot = createSnapshot();
  snapshot.apply(delta({ certificates, snis: [sni('1', 'a.test', 'exact')] }));
  snapshot.apply(delta({ snis: [sni('2', 'a.test', 'prefix')] }, { snis: ['1'] }));
  assert.equal(snapshot.certificateFor('a.test')?.id, 'prefix');
  snapshot.apply(delta({}, { certificates: ['prefix'] }));
  assert.equal(snapshot.certificateFor('a.test'), null);
});

test('an unusable certificate throws when it is first needed', () => {
  const snapshot = createSnapshot();
  snapshot.apply(
    delta({
      certificates: [{ id: 'c', created_at: 1, cert: 'rubbish', key: 'rubbish' }],
      snis: [sni('1', 'a.test', 'c')],
    }),
  );
  assert.throws(() => snapshot.certificateFor('a.test')?.secureContext(() => true));
});
