// The playground with its tokens, a recorded request sent again, and the graph of routes and services.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { type DashboardRig, skipWithoutChromium, startDashboardRig } from '../support/dashboard.ts';
import { untilPasses } from '../support/until.ts';
import { callAdminAs } from './call-admin-as.ts';

const skip = skipWithoutChromium();

describe('the playground and the graph', { skip }, () => {
  let rig: DashboardRig;
  let backend: TestBackend;
  before(async () => {
    [rig, backend] = await Promise.all([startDashboardRig(), startBackend()]);
    const { port } = backend;
    await write('PUT', '/upstreams/pool', { healthchecks: { passive: { unhealthy: { http_failures: 1 } } } });
    await write('POST', '/upstreams/pool/targets', { target: `127.0.0.1:${port}` });
    await write('PUT', '/services/orders', { host: 'pool', port: 80, protocol: 'http' });
    const fields = { methods: ['POST'], hosts: ['*.api.test'], paths: ['~/orders/(?<id>\\d+)$'], strip_path: false };
    await write('PUT', '/services/orders/routes/order', fields);
    await write('PUT', '/services/orders/routes/signed', { paths: ['/signed'], strip_path: false });
    await write('POST', '/routes/signed/plugins', { name: 'hmac-auth', config: { validate_request_body: true } });
    await write('POST', '/routes/order/plugins', { name: 'jwt', config: { claims_to_verify: ['exp'] } });
    await write('POST', '/plugins', { name: 'rate-limiting', config: { minute: 1000 } });
    await write('PUT', '/consumers/ada', {});
    await write('POST', '/consumers/ada/jwt', { key: 'ada-issuer', secret: 'secret-of-ada-0123456789' });
    await write('POST', '/consumers/ada/hmac-auth', { username: 'ada', secret: 'hmac-secret-of-ada' });
    await write('POST', '/consumers/ada/plugins', { name: 'rate-limiting', config: { minute: 5 } });
  });
  after(async () => {
    await rig[Symbol.asyncDispose]();
    await backend.close();
  });

  async function write(method: string, path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
    const answer = await rig.gateway.admin(method, path, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  }

  async function send(page: Page, status: number): Promise<void> {
    const answered = page.waitForResponse((response) => response.url().endsWith('/api/explain'));
    await page.getByRole('button', { name: 'Send' }).click();
    assert.equal((await answered).status(), 200);
    await page.getByRole('heading', { name: `Answer ${status}` }).waitFor();
  }

  test('a request for a route is refused, and accepted with a token that the page has made', async () => {
    await using desk = await rig.open('/playground', { colorScheme: 'dark' });
    const { page } = desk;
    await page.getByLabel('Fill in an example for a route').selectOption('order');
    await untilPasses(async () =>
      assert.equal(await page.getByLabel('URL or path').inputValue(), 'http://www.api.test/orders/1'),
    );
    await page.getByLabel('Body', { exact: true }).fill('{"count":1');
    await page.getByText('Not valid JSON').waitFor();
    await page.getByLabel('Body', { exact: true }).fill('{"count":1}');
    await page.getByText('Valid JSON').waitFor();
    await send(page, 401);
    await page.getByRole('region', { name: 'Answer' }).getByRole('link', { name: /jwt/ }).first().waitFor();
    await desk.check('a refused request');

    await page.getByLabel('Plugin').selectOption('jwt');
    await page.getByLabel('Credential of a consumer').selectOption({ index: 1 });
    await untilPasses(async () => assert.equal(await page.getByLabel('Key (claim iss)').inputValue(), 'ada-issuer'));
    await page.getByRole('button', { name: 'Use in request' }).click();
    await page.getByText('Set Authorization.').waitFor();
    await send(page, 200);
    const body = await page.getByRole('region', { name: 'Body of the answer' }).innerText();
    const echoed = JSON.parse(body) as { readonly url: string; readonly body: string };
    assert.deepEqual([echoed.url, echoed.body], ['/orders/1', '{"count":1}']);
    await page.getByRole('link', { name: 'ada' }).waitFor();
    await page.getByText('As curl').click();
    await page.getByText("--connect-to '::127.0.0.1:").waitFor();
    await desk.check('an answered request');

    const token = page.getByLabel('Value of Authorization');
    const value = await token.inputValue();
    await token.fill(`${value.slice(0, -6)}${value.at(-6) === 'A' ? 'B' : 'A'}${value.slice(-5)}`);
    await send(page, 401);

    await page.getByRole('button', { name: 'Add a header' }).click();
    await page.getByLabel('Name of header 2').fill('Connection');
    await page.getByLabel('Value of Connection').fill('close');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alert').getByText('sets the header Connection').first().waitFor();
    await desk.check('a request that the Admin API refuses');
  });

  test('hmac-auth: the signature fits one request; at 360 px', async () => {
    await using desk = await rig.open('/playground?method=POST&url=/signed', { viewport: { width: 360, height: 740 } });
    const { page } = desk;
    await page.getByLabel('Body', { exact: true }).fill('text');
    await page.getByLabel('Plugin').selectOption('hmac-auth');
    await page.getByLabel('User name').fill('ada');
    await page.getByRole('button', { name: 'Use in request' }).click();
    await page.getByRole('alert').getByText('Enter the user name and the secret').waitFor();
    await page.getByLabel('Secret', { exact: true }).fill('hmac-secret-of-ada');
    await page.getByRole('button', { name: 'Use in request' }).click();
    await page.getByText('Set Date, Digest, Authorization.').waitFor();
    await send(page, 200);
    await desk.check('the playground at 360 px');
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    assert.ok(width <= 360, `${width} px wide`);
    await page.getByLabel('Body', { exact: true }).fill('texT');
    await send(page, 401);
    const stored = await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage, location.href])');
    assert.ok(!stored.includes('hmac-secret'));
  });

  test('a recorded request is filled in, without what the record hides', async () => {
    await rig.gateway.admin('GET', '/traffic');
    const headers = { apikey: 'secret-of-a-client', 'x-kept': 'yes', connection: 'close' };
    const id = (await fetch(`${rig.gateway.proxyUrl}/signed?a=1`, { headers })).headers.get('x-kong-request-id');
    await using desk = await rig.open('/');
    const { page } = desk;
    await page.waitForFunction(`fetch('/api/traffic/${id}').then(({ status }) => status === 200)`, undefined, {
      polling: 100,
    });
    await page.goto(`${rig.url}/playground?request=${id}`);
    await untilPasses(async () =>
      assert.match(await page.getByLabel('URL or path').inputValue(), /^http:\/\/127\.0\.0\.1:\d+\/signed\?a=1$/),
    );
    await page.getByText('The record hides apikey: fill in.').waitFor();
    await untilPasses(async () => assert.equal(await page.getByLabel('Value of apikey').inputValue(), ''));
    await untilPasses(async () => assert.equal(await page.getByLabel('Value of x-kept').inputValue(), 'yes'));
    await desk.check('a recorded request');
    await page.goto(`${rig.url}/playground?request=0123456789abcdef0123456789abcdef`);
    await page.getByText('no longer among the recorded ones').waitFor();
  });

  test('the graph of a route and of a service, and the plugins that run for a consumer', async () => {
    await using desk = await rig.open('/config/routes/order');
    const { page } = desk;
    const graph = page.getByRole('region', { name: 'The way of a request' });
    await graph.getByText('healthy').waitFor();
    await untilPasses(async () =>
      assert.deepEqual(await graph.getByRole('heading', { level: 3 }).allInnerTexts(), [
        'Route',
        'Plugins',
        'Service',
        'Upstream',
        'Targets',
      ]),
    );
    await untilPasses(async () =>
      assert.deepEqual(await graph.locator('.graph-name').allInnerTexts(), [
        'order',
        'jwt',
        'rate-limiting',
        'orders',
        'pool',
        `127.0.0.1:${backend.port}`,
      ]),
    );
    const plugins = page.getByRole('region', { name: 'Plugins that run' });
    const running = (): Promise<readonly string[]> =>
      plugins.getByRole('list').first().getByRole('listitem').allInnerTexts();
    await untilPasses(async () => assert.match((await running()).join('; '), /^jwt\s*route; rate-limiting\s*global$/));
    await plugins.getByLabel('For').selectOption('ada');
    await plugins.getByText('identifies the consumer').waitFor();
    await untilPasses(async () =>
      assert.match((await running()).join('; '), /^jwt\s*route\s*identifies the consumer; rate-limiting\s*consumer$/),
    );
    await plugins.getByText('1 does not run').click();
    await plugins.getByText('a more specific instance runs: that of consumer').waitFor();
    await desk.check('the page of a route');
    await untilPasses(async () =>
      assert.match(
        (await graph.getByRole('link', { name: 'Try it' }).getAttribute('href')) ?? '',
        /method=POST&url=http.*orders%2F1/,
      ),
    );
    await page.emulateMedia({ colorScheme: 'dark' });
    await desk.check('the page of a route, dark');
    await graph.getByRole('link', { name: /orders/ }).click();
    await page.getByRole('heading', { level: 1, name: 'orders' }).waitFor();
    await untilPasses(async () =>
      assert.deepEqual(await graph.locator('.graph-name').allInnerTexts(), [
        'order',
        'signed',
        'orders',
        'pool',
        `127.0.0.1:${backend.port}`,
      ]),
    );
    await desk.check('the page of a service');
    await page.setViewportSize({ width: 360, height: 740 });
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    assert.ok(width <= 360, `${width} px wide`);
    await graph.getByRole('link', { name: /127\.0\.0\.1/ }).click();
    await page.getByRole('heading', { level: 1, name: `127.0.0.1:${backend.port}` }).waitFor();
  });

  // The last: from now on everybody signs in.
  test('a role that may only read is shown why it cannot send', async () => {
    const first = await write('POST', '/admin-users', { name: 'root', role: 'admin' });
    const admin = callAdminAs(rig.gateway.adminUrl, String(first['token']));
    await admin('POST', '/admin-users', { name: 'reader', role: 'read' });
    const token = String((await admin('POST', '/admin-users/reader/tokens', { name: 'browser' })).body['token']);
    await using desk = await rig.open('/playground');
    const { page } = desk;
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('sending one needs the role edit').waitFor();
    await untilPasses(async () => assert.equal(await page.getByRole('button', { name: 'Send' }).isDisabled(), true));
    await page.getByLabel('Plugin').selectOption('hmac-auth');
    await page.getByLabel('Credential of a consumer').selectOption({ index: 1 });
    await untilPasses(async () => assert.equal(await page.getByLabel('User name').inputValue(), 'ada'));
    await untilPasses(async () =>
      assert.equal(await page.getByLabel('Secret', { exact: true }).inputValue(), '', 'hidden by the Admin API'),
    );
    await desk.check('the playground of a reader');
  });
});
