import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { answer, answerEach } from '../support/raw-backend.ts';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 17: a policy on /admin, and the path spellings that try to bypass it. The forwarded path is the matched path. */
const outcomes: Readonly<Record<string, 'policy' | 'bad request' | `forwarded ${string}`>> = {
  '/admin': 'policy',
  '/admin/': 'policy',
  '/admin/users': 'policy',
  '/admin?x=/../public': 'policy',
  '//admin': 'policy',
  '///admin//x': 'policy',
  '/./admin': 'policy',
  '/.//admin': 'policy',
  '/x/../admin': 'policy',
  '/x/y/../../admin': 'policy',
  '/%2e/admin': 'policy',
  '/x/%2e%2e/admin': 'policy',
  '/x/%2E./admin': 'policy',
  '/x/.%2e/admin': 'policy',
  '/%61dmin': 'policy',
  '/%61%64%6D%69%6e': 'policy',
  '/admin/x/..': 'policy',
  '/admin%2f..': 'policy',
  '/admin%2F..%2Fpublic': 'policy',
  '/admin;x': 'policy',
  '/admin%3bx': 'policy',
  '/admin%3Fx': 'policy',
  '/admin%23x': 'policy',
  '/admin%20': 'policy',
  '/public/..//admin': 'policy',
  '/../admin': 'bad request',
  '/x/../../admin': 'bad request',
  '/%2e%2e/admin': 'bad request',
  '/admin%00': 'bad request',
  '/%00admin': 'bad request',
  '/%zzadmin': 'bad request',
  '/%6': 'bad request',
  '/ADMIN': 'forwarded /ADMIN',
  '/Admin/x': 'forwarded /Admin/x',
  '/%2fadmin': 'forwarded /%2Fadmin',
  '/x/..%2fadmin': 'forwarded /x/..%2Fadmin',
  '/%5cadmin': 'forwarded /%5Cadmin',
  '/\\admin': 'forwarded /%5Cadmin',
  '/x\\..\\admin': 'forwarded /x%5C..%5Cadmin',
  '/%2561dmin': 'forwarded /%2561dmin',
  '/%252e%252e/admin': 'forwarded /%252e%252e/admin',
  '/;/admin': 'forwarded /;/admin',
  '/%3b/admin': 'forwarded /%3B/admin',
  '/%3fadmin': 'forwarded /%3Fadmin',
  '/%23admin': 'forwarded /%23admin',
  '/public//a/./b/../c%41': 'forwarded /public/a/cA',
  '/...admin': 'forwarded /...admin',
};

describe('a policy on a path', { concurrency: 16 }, () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ script: answerEach((request) => answer(request.target)) });
    await rig.write('PUT', '/services/backend/routes/admin', { paths: ['/admin'], strip_path: false });
    await rig.write('POST', '/routes/admin/plugins', {
      name: 'request-termination',
      config: { status_code: 403, message: 'policy' },
    });
  });
  after(async () => {
    const seen = rig.backend.requests.filter(
      (request) => /^\/admin/i.test(request.target) && !/^\/(?:ADMIN|Admin)/.test(request.target),
    );
    await rig.close();
    assert.deepEqual(seen, []);
  });

  for (const [target, outcome] of Object.entries(outcomes)) {
    it(`on a request for ${JSON.stringify(target)}: ${outcome}`, async () => {
      const response = await exchangeOne(rig.port, `GET ${target} HTTP/1.1\r\nHost: example.com\r\n\r\n`);
      const seen =
        response.status === 403 && /policy/.test(response.body)
          ? 'policy'
          : response.status === 400
            ? 'bad request'
            : `forwarded ${response.body}`;
      assert.equal(seen, outcome);
    });
  }
});
