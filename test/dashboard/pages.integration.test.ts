// What all pages have in common: sign-in and roles, the first run, long lists, themes, narrow screens, size, and a gateway that stops.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { root } from '../../scripts/lib/files.ts';
import { type DashboardRig, skipWithoutChromium, startDashboardRig } from '../support/dashboard.ts';
import { untilPasses } from '../support/until.ts';
import { callAdminAs } from './call-admin-as.ts';
import { fillForm, save } from './fill-form.ts';

const skip = skipWithoutChromium();

/** One gateway, in the order of its life: empty, with a config, with 10,000 routes, with admin users. */
describe('the dashboard', { skip }, () => {
  let rig: DashboardRig;
  let boss: ReturnType<typeof callAdminAs> | null = null;
  before(async () => {
    rig = await startDashboardRig();
  });
  after(() => rig?.[Symbol.asyncDispose]());

  test('the first page is at most 350 KB, and loads nothing from other servers', async () => {
    await using desk = await rig.open('/config/services');
    await desk.page.getByRole('heading', { name: 'No services yet' }).waitFor();
    const loaded = await desk.page.evaluate<readonly string[]>(
      'performance.getEntriesByType("resource").map(({ name }) => name).concat(location.href)',
    );
    for (const name of loaded) assert.ok(name.startsWith(`${rig.url}/`), name);
    const { files } = JSON.parse(readFileSync(join(root, 'dashboard/dist/files.json'), 'utf8')) as {
      readonly files: Readonly<Record<string, { readonly sizes: { readonly br?: number; readonly identity: number } }>>;
    };
    const sizes = loaded.flatMap((name) => {
      const file = files[new URL(name).pathname.slice(1)] ?? null;
      return file === null ? [] : [file.sizes.br ?? file.sizes.identity];
    });
    assert.ok(sizes.length >= 2, 'at least a script and a style sheet');
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(total < 350_000, `${total} bytes`);
  });

  test('an empty gateway has an example in one click, and shows when the first request arrives', async () => {
    await using desk = await rig.open('/');
    const { page } = desk;
    await page.getByRole('button', { name: 'Create the example' }).click();
    await page.getByText('Waiting for the first request').waitFor();
    await desk.check('the first run');
    const address = /curl -i (\S+)/.exec(await page.locator('pre').last().innerText())?.[1] ?? '';
    assert.equal(address, `${rig.gateway.proxyUrl}/hello`);
    const answer = await fetch(address);
    assert.equal(answer.status, 200);
    await page.getByText('The first request has arrived.').waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });

  test('works in both themes and at 360 pixels, with the keyboard too', async () => {
    await fillGateway(rig);
    const places = [
      ['/config/services', 'Services'],
      ['/config/routes', 'Routes'],
      ['/config/services/orders', 'orders'],
      ['/config/plugins/new?name=rate-limiting', 'New plugin: rate-limiting'],
    ] as const;
    const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
      [1280, 360].map((width) => ({ colorScheme, width })),
    );
    await Promise.all(
      looks.map(async ({ colorScheme, width }) => {
        await using desk = await rig.open('/plugins', { colorScheme, viewport: { width, height: 800 } });
        for (const [place, title] of places) {
          await desk.go(place);
          await desk.page.getByRole('heading', { level: 1, name: title }).waitFor();
          await desk.page.locator('.table-row, form .form-foot').first().waitFor();
          await desk.check(`${place}, ${colorScheme}, ${width} px`);
          const overflow = await desk.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
          assert.ok(overflow <= 0, `${place} is ${overflow} px too wide at ${width} px`);
        }
      }),
    );
    await using narrow = await rig.open('/config/services', { viewport: { width: 360, height: 740 } });
    await narrow.page.getByRole('button', { name: 'Menu' }).click();
    await narrow.check('the menu');
    await narrow.page.getByRole('dialog').getByRole('link', { name: 'Consumers' }).click();
    await narrow.page.getByRole('heading', { name: 'Consumers', exact: false }).first().waitFor();

    await using desk = await rig.open('/config/services');
    const { page } = desk;
    await page.locator('.table-row').first().waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await untilPasses(async () =>
      assert.equal(await page.evaluate('document.activeElement.id'), 'main', 'the skip link'),
    );
    const theme = page.getByRole('button', { name: 'System theme' });
    await theme.click();
    await page.getByRole('button', { name: 'Light theme' }).click();
    await untilPasses(async () => assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark'));
    await page.reload();
    await untilPasses(async () =>
      assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark', 'the choice is kept'),
    );
  });

  test('says when the gateway does not answer, and keeps what it shows', async () => {
    await using desk = await rig.open('/config/services');
    const { page } = desk;
    await page.getByRole('link', { name: /orders/ }).waitFor();
    await page.route('**/api/**', (route) => route.abort('connectionrefused'));
    await page.getByRole('link', { name: /orders/ }).click();
    await page.getByRole('heading', { name: 'The gateway does not answer' }).waitFor();
    await desk.check('a page without an answer');
    await page.unroute('**/api/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'orders' }).waitFor();
  });

  test('10,000 routes scroll and are searched, with few of them in the document', async () => {
    const routes = Array.from({ length: 10_000 }, (_, at) => ({
      name: `route-${at}`,
      paths: [`/path-${at}`],
      tags: at % 1000 === 0 ? ['rare'] : ['many'],
    }));
    for (let at = 0; at < routes.length; at += 2500) {
      const part = { _format_version: '3.0', routes: routes.slice(at, at + 2500) };
      const { status, body } = await rig.gateway.admin('POST', '/config/apply?mode=merge', part);
      assert.equal(status, 200, JSON.stringify(body).slice(0, 500));
    }
    await using desk = await rig.open('/config/routes');
    const { page } = desk;
    const rows = page.locator('.table-row');
    await page.getByText('10,004', { exact: true }).waitFor();
    await untilPasses(async () => assert.ok((await rows.count()) < 100));
    await page.locator('.table-body').evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.locator('li[aria-posinset="10004"] .table-row').waitFor();
    await untilPasses(async () => assert.ok((await rows.count()) < 100));
    await desk.check('a long list');
    await page.getByRole('searchbox').fill('path-4242');
    await page.getByRole('link', { name: /route-4242/ }).waitFor();
    await page.getByRole('searchbox').fill('');
    await page.getByLabel('Tag').selectOption('rare');
    await page.waitForURL('**/config/routes?tag=rare');
    await page.getByRole('link', { name: /route-9000/ }).waitFor();
    await untilPasses(async () => assert.equal(await rows.count(), 10));
    await page.getByRole('searchbox').fill('nothing has this');
    await page.getByRole('heading', { name: 'Nothing matches' }).waitFor();
  });

  test('the first admin user signs its session in; tabs share it, and nothing outlives it', async () => {
    await using desk = await rig.open('/config/admin_users/new');
    const { page, context } = desk;
    await fillForm(page, { name: 'ada', role: 'admin' });
    await save(page);
    const token = await page.locator('code', { hasText: 'sgadm_' }).innerText();
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.getByRole('link', { name: /ada/ }).waitFor();

    const second = await context.newPage();
    await second.goto(`${rig.url}/config/services`);
    await second.getByRole('link', { name: /orders/ }).waitFor();
    assert.deepEqual(await context.cookies(), []);
    assert.equal(await page.evaluate('JSON.stringify(localStorage)'), '{}');
    for (const one of [page, second]) assert.ok(!one.url().includes(token));

    await second.getByRole('button', { name: 'Sign out' }).click();
    for (const one of [page, second]) await one.getByRole('heading', { name: 'Sign in to Sluicegate' }).waitFor();
    assert.equal(await page.evaluate('JSON.stringify(sessionStorage)'), '{}');
    await desk.check('the sign-in');

    await page.getByLabel('Token').fill('sgadm_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('does not accept').waitFor();
    await desk.check('the refused sign-in');
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: /ada/ }).waitFor();
    await untilPasses(() =>
      assert.equal(new URL(page.url()).pathname, '/config/admin_users', 'the page that was asked for'),
    );
    await page.reload();
    await page.getByRole('link', { name: /ada/ }).waitFor();

    // Revoked elsewhere: the page notices at its next request.
    const admin = callAdminAs(rig.gateway.adminUrl, token);
    const other = await admin('POST', '/admin-users', { name: 'bob', role: 'admin' });
    assert.equal(other.status, 201);
    const issued = await admin('POST', '/admin-users/bob/tokens', { name: 'second' });
    const bob = callAdminAs(rig.gateway.adminUrl, String(issued.body['token']));
    assert.equal((await bob('DELETE', '/admin-users/ada')).status, 204);
    boss = bob;
    await page.getByRole('link', { name: 'Services', exact: true }).click();
    await page.getByRole('heading', { name: 'Sign in to Sluicegate' }).waitFor();
  });

  test('what a role may not do is not offered, and what tags forbid is explained', async () => {
    assert.ok(boss !== null, 'the test before has created the first admin user');
    const admin = boss;
    assert.equal((await admin('POST', '/services', { name: 'theirs', host: 'theirs.test' })).status, 201);
    const tokenOf = async (name: string, fields: object): Promise<string> => {
      assert.equal((await admin('POST', '/admin-users', { name, ...fields })).status, 201);
      return String((await admin('POST', `/admin-users/${name}/tokens`, { name: 'browser' })).body['token']);
    };
    const reader = await tokenOf('reader', { role: 'read' });
    const editor = await tokenOf('editor', { role: 'edit', tag_patterns: ['team-a'] });

    await using watching = await rig.open('/config/services');
    await signIn(watching.page, reader);
    await watching.page.getByRole('link', { name: /theirs/ }).waitFor();
    await untilPasses(async () =>
      assert.equal(await watching.page.getByRole('link', { name: 'New service' }).count(), 0),
    );
    await watching.page.getByRole('link', { name: /theirs/ }).click();
    await watching.page.getByText('Your role may read services').waitFor();
    for (const name of ['Save', 'Delete'])
      await untilPasses(async () => assert.equal(await watching.page.getByRole('button', { name }).count(), 0, name));
    await untilPasses(async () =>
      assert.equal(await watching.page.locator('#field-host').getAttribute('readonly'), ''),
    );
    await watching.check('a page that is read only');

    await using editing = await rig.open('/config/services/theirs');
    await signIn(editing.page, editor);
    await fillForm(editing.page, { host: 'mine.test' });
    await save(editing.page);
    await editing.page.getByRole('alert').first().waitFor();
    assert.equal((await admin('GET', '/services/theirs')).body['host'], 'theirs.test');
    await editing.page.goto(`${rig.url}/config/services/new`);
    await fillForm(editing.page, { name: 'mine', host: 'mine.test', tags: 'team-a' });
    await save(editing.page);
    await editing.page.getByRole('heading', { name: 'mine' }).waitFor();
  });

  test('without a database it shows the config, and offers no change of it', async () => {
    await using rig = await startDashboardRig({
      env: { KONG_DATABASE: 'off', KONG_DECLARATIVE_CONFIG_STRING: document },
    });
    await using desk = await rig.open('/config/services');
    await desk.page.getByRole('link', { name: /declared/ }).click();
    await desk.page.getByText('its config comes from a document').waitFor();
    await untilPasses(async () => assert.equal(await desk.page.getByRole('button', { name: 'Save' }).count(), 0));
  });
});

const document = JSON.stringify({
  _format_version: '3.0',
  services: [{ name: 'declared', url: 'http://127.0.0.1:9' }],
});

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function fillGateway({ gateway }: DashboardRig): Promise<void> {
  const long = 'a-name-of-a-service-that-is-as-long-as-names-in-real-configurations-are';
  for (const name of ['orders', 'billing', long]) {
    await gateway.admin('POST', '/services', {
      name,
      host: `${name.slice(0, 40)}.test`,
      tags: ['team-a', 'production'],
    });
    await gateway.admin('POST', `/services/${name}/routes`, {
      name: `${name}-route`,
      paths: [`/${name}`],
      methods: ['GET', 'POST'],
    });
  }
  await gateway.admin('POST', '/plugins', { name: 'rate-limiting', config: { minute: 5 } });
  await gateway.admin('POST', '/consumers', { username: 'ada', custom_id: '42' });
}
