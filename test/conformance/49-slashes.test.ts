import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { answer, answerEach } from '../support/raw-backend.ts';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 49: repeated slashes, encoded slashes and path parameters after `strip_path`, in rules and in cache keys. */
describe('slashes after strip_path', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      settings: { plugins: ['proxy-cache', 'request-termination', 'request-transformer'] },
      script: answerEach(({ target }) =>
        answer(`for ${target}`, 'Content-Type: text/plain\r\nCache-Control: max-age=60\r\n'),
      ),
    });
    await rig.write('PUT', '/services/based', { url: `${rig.backend.url}/base/` });
    const routes: readonly (readonly [string, string, Readonly<Record<string, unknown>>])[] = [
      ['backend', 'api', { paths: ['/api'] }],
      ['backend', 'slash', { paths: ['/slash/'] }],
      ['backend', 'regex', { paths: ['~/v\\d+'] }],
      ['based', 'based', { paths: ['/based'] }],
      ['backend', 'denied', { paths: ['/api/admin', '~/api/[^/]*%2[Ff]admin'], strip_path: false }],
      ['backend', 'rewritten', { paths: ['~/rewritten/(?<rest>.*)'] }],
    ];
    for (const [service, name, route] of routes) {
      await rig.write('PUT', `/services/${service}/routes/${name}`, { strip_path: true, ...route });
    }
    await rig.write('POST', '/routes/denied/plugins', { name: 'request-termination', config: { status_code: 403 } });
    await rig.write('POST', '/routes/api/plugins', { name: 'proxy-cache', config: { strategy: 'memory' } });
    await rig.write('POST', '/routes/rewritten/plugins', {
      name: 'request-transformer',
      config: { replace: { uri: '/$(query_params.to)' } },
    });
  });
  after(() => rig.close());

  async function forwarded(target: string): Promise<string | number> {
    const response = await exchangeOne(rig.port, `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
    return response.status === 200 ? response.body.slice('for '.length) : response.status;
  }

  const cases: Readonly<Record<string, string | number>> = {
    '/api//evil.test/x': '/evil.test/x',
    '//api//evil.test': '/evil.test',
    '/api///': '/',
    '/api/.//x': '/x',
    '/api/%2E//x': '/x',
    '/api/y/..//x': '/x',
    '/slash//x': '/x',
    '/slash///x//y': '/x/y',
    '/v1//x': '/x',
    '/based//x': '/base/x',
    '/based///': '/base/',
    '/api/%2F%2Fevil.test': '/%2F%2Fevil.test',
    '/api/%2f/x': '/%2F/x',
    '/api/%5Cx': '/%5Cx',
    '/api/%5c%5cx': '/%5C%5Cx',
    '/api/;v=1/x': '/;v=1/x',
    '/api;v=1/x': '/;v=1/x',
    // Rules see the path that the backend receives.
    '/api//admin': 403,
    '/api/./admin': 403,
    '/api/x/..//admin': 403,
    '//api/%61dmin': 403,
    '/api/%2Fadmin': 403,
    // A template filled from the request cannot turn the path into an authority.
    '/rewritten/x?to=/evil.test/y': '/%2Fevil.test%2Fy?to=/evil.test/y',
    '/rewritten/x?to=%2F%2Fevil.test': '/%2F%2Fevil.test?to=%2F%2Fevil.test',
  };
  for (const [target, expected] of Object.entries(cases)) {
    it(`in ${target} lead to ${expected}`, async () => {
      assert.equal(await forwarded(target), expected);
      assert.doesNotMatch(rig.backend.received, /^[A-Z]+ \/\//m);
    });
  }

  it('share a cache key only where the backend sees no difference', async () => {
    const count = (): number => rig.backend.requests.length;
    const before = count();
    assert.equal(await forwarded('/api/cached/x'), '/cached/x');
    assert.equal(await forwarded('/api/cached%2Fx'), '/cached%2Fx');
    assert.equal(await forwarded('/api/cached/;v=1/x'), '/cached/;v=1/x');
    assert.equal(count(), before + 3);
  });
});
