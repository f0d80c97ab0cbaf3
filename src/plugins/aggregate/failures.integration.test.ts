import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openClient } from '../../../test/support/raw-client.ts';
import { until } from '../../../test/support/until.ts';
import { type CompositeRig, type Config, ordersOf, startCompositeRig, user } from './gateway.fixture.ts';

let rig: CompositeRig;

before(async () => {
  rig = await startCompositeRig();
});
after(() => rig.close());

describe('aggregate: failures through a gateway', () => {
  const faults: readonly [what: string, part: Config, status: number, reason: string][] = [
    ['/500', {}, 502, 'status'],
    ['/bad-json', {}, 502, 'malformed'],
    ['/bad-xml', {}, 502, 'malformed'],
    ['/entity', {}, 502, 'malformed'],
    ['/large', { max_body_size: 1_000 }, 502, 'too-large'],
    ['/bomb', {}, 502, 'bad-answer'],
    ['/huge-bad', { max_body_size: 8_000_000 }, 502, 'malformed'],
    ['/cut', {}, 502, 'bad-answer'],
    ['/slow', { query: { hang: '1' }, timeout: 100 }, 504, 'timeout'],
    ['/gone', { service: 'no-such-service' }, 503, 'misconfigured'],
    ['/refused', { service: null, url: 'refused' }, 502, 'unreachable'],
  ];
  for (const [path, more, status, reason] of faults) {
    test(`${path} gives ${status} if the part is required, an error otherwise`, async () => {
      const url = more['url'] === 'refused' ? { url: rig.refused } : {};
      const part = { name: 'part', service: 'others', path, ...more, ...url };
      const good = { name: 'good', service: 'others', path: '/good' };
      const required = await rig.ask(await rig.composite({ requests: [good, part] }));
      assert.deepEqual(
        [required.response.status, required.json['part'], required.json['reason']],
        [status, 'part', reason],
      );
      assert.doesNotMatch(required.text, /secret|127\.0\.0\.1/);
      const optional = await rig.ask(await rig.composite({ requests: [good, { ...part, required: false }] }));
      const [error] = optional.json['errors'] as Config[];
      assert.deepEqual([optional.response.status, optional.json['part'], error?.['reason']], [200, null, reason]);
      assert.equal(optional.response.headers.get('x-aggregate-complete'), 'false');
      assert.equal(optional.response.headers.get('cache-control'), 'no-store');
      assert.doesNotMatch(optional.text, /secret|127\.0\.0\.1/);
    });
  }

  test('passes a status on, or treats it as absent', async () => {
    const gone = { ...user, path: '/users/404' };
    const passed = await rig.ask(await rig.composite({ requests: [{ ...gone, pass_status: [404] }] }));
    assert.deepEqual([passed.response.status, passed.json['part']], [404, 'user']);
    const absent = await rig.ask(await rig.composite({ requests: [{ ...gone, null_on_status: [404] }, ordersOf] }));
    assert.deepEqual([absent.response.status, absent.json], [200, { user: { orders: null } }]);
  });

  test('has a deadline for all calls', async () => {
    const slow = { name: 'slow', service: 'others', path: '/a', query: { delay: '80' } };
    const then = { name: 'then', service: 'others', path: '/b', query: { hang: '{slow.status}' } };
    const { response, json } = await rig.ask(await rig.composite({ requests: [slow, then], timeout: 200 }));
    assert.deepEqual([response.status, json['part']], [504, 'then']);
  });

  test('cancels the other calls when a required part fails', async () => {
    const path = await rig.composite({
      requests: [
        { name: 'hangs', service: 'orders', path: '/held', query: { hang: '1' } },
        { name: 'fails', service: 'others', path: '/500' },
      ],
    });
    const { response, json } = await rig.ask(path);
    assert.deepEqual([response.status, json['part']], [502, 'fails']);
    await until(() => rig.received.some(({ url, aborted }) => url === '/held?hang=1' && aborted));
  });

  test('cancels the calls when the client disconnects', async () => {
    const path = await rig.composite({
      requests: [
        { name: 'a', service: 'orders', path: '/left', query: { hang: '1' } },
        { name: 'b', service: 'others', path: '/left', query: { hang: '1' } },
      ],
    });
    using client = await openClient(rig.port);
    client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const left = () => rig.received.filter(({ url }) => url === '/left?hang=1');
    await until(() => left().length === 2);
    client.reset();
    await until(() => left().every(({ aborted }) => aborted));
  });
});
