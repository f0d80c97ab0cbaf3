// The form of every plugin in a browser: a new instance, and an edit that changes nothing else.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { finishedPlugins } from '../../scripts/lib/files.ts';
import { type DashboardPage, type DashboardRig, skipWithoutChromium, startDashboardRig } from '../support/dashboard.ts';
import { smallestConfigs } from '../support/smallest-configs.ts';
import { untilPasses } from '../support/until.ts';
import { fillForm, save } from './fill-form.ts';

const skip = skipWithoutChromium();

/** Plugins that need more than a scope: a route or service, or another entity. */
const scoped = new Set(['acme']);

/** As many plugins at a time as there are pages. */
const pages = 3;

describe('plugins in the dashboard', { skip }, () => {
  let rig: DashboardRig;
  let desk: DashboardPage;
  const desks: DashboardPage[] = [];
  before(async () => {
    rig = await startDashboardRig({ env: { KONG_UNTRUSTED_LUA: 'sandbox' } });
    assert.equal((await rig.gateway.admin('POST', '/services', { name: 'users', host: 'users.test' })).status, 201);
    desks.push(...(await Promise.all(Array.from({ length: pages }, () => rig.open('/plugins')))));
    [desk] = desks as [DashboardPage];
  });
  after(async () => {
    await Promise.all(desks.map((one) => one[Symbol.asyncDispose]()));
    await rig?.[Symbol.asyncDispose]();
  });

  test('are offered in the catalogue, those of a consumer only where they can be', async () => {
    const { page } = desk;
    await desk.go('/config/plugins/new');
    await page.getByRole('heading', { name: 'Choose a plugin' }).waitFor();
    await untilPasses(async () => assert.equal(await page.locator('.catalog a').count(), finishedPlugins().length));
    await desk.check('the catalogue');
    await page.getByRole('searchbox', { name: 'Search plugins' }).fill('rate');
    await page.getByRole('link', { name: /^rate-limiting/ }).click();
    await page.getByRole('heading', { name: 'New plugin: rate-limiting' }).waitFor();
  });

  test('a refusal of a nested field is shown at that field', async () => {
    const { page } = desk;
    await desk.go('/config/plugins/new?name=rate-limiting');
    await fillForm(page, { 'config.minute': 'many', 'config.redis.port': '99999' });
    await save(page);
    await page.locator('#field-config-minute-problem').getByText('expected a number').waitFor();
    await page.locator('#field-config-redis-port-problem').waitFor();
    await fillForm(page, { 'config.minute': '5', 'config.redis.port': '', service: 'users' });
    await save(page);
    await page.getByRole('button', { name: 'Delete', exact: true }).waitFor();
    const { body } = await rig.gateway.admin('GET', '/services/users/plugins');
    const [plugin] = body['data'] as readonly { readonly name: string; readonly config: { readonly minute: number } }[];
    assert.deepEqual([plugin?.name, plugin?.config.minute], ['rate-limiting', 5]);
  });

  async function fillOne(name: string, { page, go, check }: DashboardPage): Promise<void> {
    await go(`/config/plugins/new?name=${name}`);
    await page.getByRole('heading', { name: `New plugin: ${name}` }).waitFor();
    await page.locator('form .form-foot').waitFor();
    // Every field is rendered, also those that are folded.
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    await check(`the form of ${name}`);

    const path = scoped.has(name) ? '/plugins' : '/services/users/plugins';
    let created = await rig.gateway.admin('POST', path, { name, config: smallestConfigs[name] ?? {} });
    if (created.status === 409 || created.status === 400) {
      created = await rig.gateway.admin('POST', '/plugins', { name, config: smallestConfigs[name] ?? {} });
    }
    assert.equal(created.status, 201, JSON.stringify(created.body));
    await go(`/config/plugins/${created.body['id']}`);
    await fillForm(page, { tags: 'edited' });
    await save(page);
    await page.getByText('Saved.').waitFor();
    const { body } = await rig.gateway.admin('GET', `/plugins/${created.body['id']}`);
    assert.deepEqual(body['tags'], ['edited']);
    assert.deepEqual(body['config'], created.body['config']);
    await rig.gateway.admin('DELETE', `/plugins/${created.body['id']}`);
  }

  describe('the form of', { concurrency: pages }, () => {
    for (const name of finishedPlugins()) {
      test(name, async () => {
        const free = desks.pop();
        assert.ok(free !== undefined, 'as many pages as tests at a time');
        try {
          await fillOne(name, free);
        } finally {
          desks.push(free);
        }
      });
    }
  });
});
