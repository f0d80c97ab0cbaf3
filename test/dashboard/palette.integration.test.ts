// The command palette: by keyboard only, for each role, with 10,000 routes; titles of pages and the list of shortcuts.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type DashboardPage, type DashboardRig, skipWithoutChromium, startDashboardRig } from '../support/dashboard.ts';
import { untilPasses } from '../support/until.ts';

const skip = skipWithoutChromium();

describe('the command palette', { skip }, () => {
  let rig: DashboardRig;
  let desk: DashboardPage;
  let page: Page;
  before(async () => {
    rig = await startDashboardRig();
    const routes = Array.from({ length: 10_000 }, (_, at) => ({ name: `route-${at}`, paths: [`/path-${at}`] }));
    const services = [
      { name: 'users', url: 'http://users.internal:8080', routes: [{ name: 'list-users', paths: ['/users'] }] },
    ];
    const upstreams = [{ name: 'pool', targets: [{ target: '10.0.0.9:8080' }] }];
    const document = { _format_version: '3.0', routes, services, upstreams };
    const { status, body } = await rig.gateway.admin('POST', '/config/apply?mode=merge', document);
    assert.equal(status, 200, JSON.stringify(body).slice(0, 300));
    desk = await rig.open('/config/services');
    page = desk.page;
    await page.getByRole('link', { name: /users/ }).first().waitFor();
  });
  after(async () => {
    await desk?.[Symbol.asyncDispose]();
    await rig?.[Symbol.asyncDispose]();
  });

  const input = () => page.getByRole('combobox', { name: 'Search everything' });
  const option = (name: string | RegExp) => page.getByRole('option', { name });

  async function open(): Promise<void> {
    await page.keyboard.press('Control+k');
    await input().waitFor();
  }

  /** Waits until the option is the active one, as a screen reader has it. */
  async function enter(text: string, name: RegExp): Promise<void> {
    await open();
    await page.keyboard.type(text);
    await option(name).first().waitFor();
    const id = await option(name).first().getAttribute('id');
    for (let step = 0; step < 30 && (await input().getAttribute('aria-activedescendant')) !== id; step++) {
      await page.keyboard.press('ArrowDown');
    }
    await untilPasses(async () =>
      assert.equal(await input().getAttribute('aria-activedescendant'), id, `${name} can be reached`),
    );
    await page.keyboard.press('Enter');
    await input().waitFor({ state: 'detached' });
  }

  test('is loaded when it is opened, has the focus, and gives it back', async () => {
    const loaded = () =>
      page.evaluate<number>(
        "performance.getEntriesByType('resource').filter(({ name }) => name.includes('palette-dialog')).length",
      );
    assert.equal(await loaded(), 0);
    await page.getByRole('button', { name: 'Search' }).focus();
    await open();
    await untilPasses(async () => assert.ok((await loaded()) > 0));
    await untilPasses(async () =>
      assert.equal(await page.evaluate("document.activeElement.getAttribute('role')"), 'combobox'),
    );
    await desk.check('the palette');
    await page.keyboard.type('users');
    await option(/^users/).waitFor();
    await desk.check('the palette with results');
    await page.keyboard.press('Escape');
    if ((await input().count()) > 0) await page.keyboard.press('Escape');
    await input().waitFor({ state: 'detached' });
    await untilPasses(async () =>
      assert.equal(await page.evaluate('document.activeElement.textContent.startsWith("Search")'), true),
    );
  });

  test('finds one of 10,000 routes without loading them', async () => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await enter('path-4242', /route-4242/);
    await page.getByRole('heading', { name: 'route-4242' }).waitFor();
    const searches = asked.filter((path) => path === '/api/search');
    assert.ok(searches.length >= 1 && searches.length <= 9, `${searches.length} searches while typing`);
    const lists = asked.filter((path) => path === '/api/routes');
    assert.deepEqual(lists, [], 'no list of all routes');
    assert.equal(await page.title(), 'route-4242 · Sluicegate');
  });

  test('leads to targets, pages and lists', async () => {
    await enter('10.0.0', /10\.0\.0\.9:8080/);
    await page.getByRole('heading', { name: '10.0.0.9:8080' }).waitFor();
    await enter('playg', /Playground/);
    await page.waitForURL('**/playground');
    await enter('consumers', /^Consumers/);
    await page
      .getByRole('heading', { name: /^Consumers/ })
      .first()
      .waitFor();
    await page.waitForFunction("document.title === 'Consumers · Sluicegate'");
  });

  test('begins new entities and adds a plugin to a route', async () => {
    await enter('new service', /New service/);
    await page.getByRole('heading', { name: 'New service' }).waitFor();
    await enter('add key-auth to route list-u', /Add key-auth to route list-users/);
    await page.getByRole('heading', { name: 'New plugin: key-auth' }).waitFor();
    await page.locator('form .form-foot button[type=submit]').click();
    await page.getByRole('button', { name: 'Delete', exact: true }).waitFor();
    const { body } = await rig.gateway.admin('GET', '/routes/list-users/plugins');
    assert.deepEqual(
      (body['data'] as readonly { readonly name: string }[]).map(({ name }) => name),
      ['key-auth'],
    );
  });

  test('changes the theme, and shows the shortcuts', async () => {
    await enter('dark theme', /Use the dark theme/);
    await untilPasses(async () => assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark'));
    await page.getByRole('button', { name: 'Dark theme' }).waitFor();
    await page.keyboard.press('Control+/');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await desk.check('the shortcuts');
    await page.keyboard.press('Escape');
  });

  test('says when nothing matches, and when the gateway does not answer', async () => {
    await open();
    await page.keyboard.type('nothing-has-this');
    await page.getByText('Nothing matches.').waitFor();
    await page.route('**/api/search**', (route) => route.abort('connectionrefused'));
    await page.keyboard.type('x');
    await page.getByRole('status').getByText('does not answer').waitFor();
    await page.unroute('**/api/search**');
    await page.keyboard.press('Escape');
  });

  test('offers a reader nothing that would change the config', async () => {
    const created = await rig.gateway.admin('POST', '/admin-users', { name: 'boss', role: 'admin' });
    const headers = { authorization: `Bearer ${created.body['token']}`, 'content-type': 'application/json' };
    const post = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> =>
      (await (
        await fetch(`${rig.gateway.adminUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      ).json()) as Readonly<Record<string, unknown>>;
    await post('/admin-users', { name: 'reader', role: 'read' });
    const { token } = await post('/admin-users/reader/tokens', { name: 'test' });
    await using reading = await rig.open('/config/services');
    await reading.page.getByLabel('Token').fill(String(token));
    await reading.page.getByRole('button', { name: 'Sign in' }).click();
    await reading.page.getByRole('link', { name: /users/ }).first().waitFor();
    await reading.page.keyboard.press('Control+k');
    const field = reading.page.getByRole('combobox', { name: 'Search everything' });
    await field.fill('new');
    await reading.page.getByRole('status').getByText('Searching').waitFor({ state: 'hidden' });
    await untilPasses(async () => assert.equal(await reading.page.getByRole('option', { name: /^New / }).count(), 0));
    await field.fill('add cors to users');
    await reading.page.getByText('Nothing matches.').waitFor();
    await field.fill('sign out');
    await reading.page.getByRole('option', { name: /Sign out/ }).waitFor();
    await reading.page.keyboard.press('Enter');
    await reading.page.getByRole('heading', { name: 'Sign in to Sluicegate' }).waitFor();
  });
});
