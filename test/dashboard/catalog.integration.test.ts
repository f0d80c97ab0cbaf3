// The plugin catalog: groups, state, READMEs, examples that fill the form, costs, and plugins of users.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type EntitySchema, fieldsOf } from '../../dashboard/src/forms/schema.ts';
import { exampleValue } from '../../dashboard/src/plugins/example-value.ts';
import { examplesOf } from '../../dashboard/src/plugins/examples.ts';
import { finishedPlugins, root } from '../../scripts/lib/files.ts';
import { type DashboardPage, type DashboardRig, skipWithoutChromium, startDashboardRig } from '../support/dashboard.ts';
import { untilPasses } from '../support/until.ts';

const skip = skipWithoutChromium();

const readmeOf = (name: string): Promise<string> => readFile(join(root, 'src/plugins', name, 'README.md'), 'utf8');

const own = (name: string, capabilities = '') => `
  import { definePlugin } from 'sluicegate/plugin-sdk';
  import { record, string } from 'sluicegate/plugin-sdk/schema';
  export default definePlugin({
    name: '${name}', version: '1.0.0', priority: 7, protocols: ['http'], defaultProtocols: ['http'], scopes: ['route'],
    schema: async () => ({ config: record({ greeting: string({ description: 'What to say to <b>everybody</b>.' }) }) }),
    setup: () => ({}),
    ${capabilities}
  });`;

/** What a README must not be able to do. */
const hostile = `# hostile

A plugin with [a script](javascript:alert(1)), [a file](../../etc/passwd) and <img src=x onerror=alert(1)>.

\`\`\`sh
curl -X POST localhost:8001/plugins -d name=hostile -d 'config.greeting=<script>alert(1)</script>'
\`\`\`

| a | b |
|---|---|
| \`x|y\` | **bold** [key-auth](../key-auth/README.md) |
`;

describe('the plugin catalog', { skip }, () => {
  let rig: DashboardRig;
  let desk: DashboardPage;
  let page: Page;
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluicegate-catalog-'));
    for (const name of ['plain', 'hostile']) {
      await mkdir(join(folder, name));
      await writeFile(
        join(folder, name, 'index.ts'),
        own(name, name === 'plain' ? "capabilities: ['network', 'env']," : ''),
      );
    }
    await writeFile(join(folder, 'hostile/README.md'), hostile);
    const plugins = ['bundled', join(folder, 'plain/index.ts'), join(folder, 'hostile/index.ts')].join();
    rig = await startDashboardRig({ env: { KONG_PLUGINS: plugins, KONG_UNTRUSTED_LUA: 'sandbox' } });
    await rig.gateway.admin('POST', '/services', { name: 'users', url: 'http://users.internal' });
    await rig.gateway.admin('POST', '/services/users/plugins', { name: 'key-auth' });
    await rig.gateway.admin('POST', '/plugins', { name: 'key-auth', enabled: false });
    desk = await rig.open('/plugins');
    page = desk.page;
  });
  after(async () => {
    await desk?.[Symbol.asyncDispose]();
    await rig?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const card = (name: string) => page.locator('.catalog a').filter({ has: page.getByText(name, { exact: true }) });

  test('has all plugins in the groups of the list of features', async () => {
    await card('plain').waitFor();
    const groups = await page
      .locator('.plugin-group')
      .evaluateAll((sections) =>
        sections.map(
          (section) =>
            [
              section.querySelector('h2')?.textContent ?? '',
              [...section.querySelectorAll('strong')].map((name) => name.textContent ?? ''),
            ] as const,
        ),
      );
    const features = await readFile(join(root, 'docs/features.md'), 'utf8');
    const documented = new Map<string, string>();
    for (const section of features.split(/^## /m).slice(1)) {
      for (const [, name = ''] of section.matchAll(/\.\.\/src\/plugins\/([a-z0-9-]+)\/README\.md/g)) {
        if (!documented.has(name)) documented.set(name, section.split('\n')[0] ?? '');
      }
    }
    const shown = groups.flatMap(([title, names]) => names.map((name) => [name, title] as const));
    assert.deepEqual(shown.map(([name]) => name).sort(), [...finishedPlugins(), 'hostile', 'plain'].sort());
    for (const [name, title] of shown) {
      assert.equal(title, documented.get(name) ?? 'Your own', name);
    }
    await desk.check('the catalog');
  });

  test('shows which are in use and on what, and filters by it', async () => {
    await card('key-auth').getByText('2 in use').waitFor();
    await card('key-auth').getByText('1 off').waitFor();
    await untilPasses(async () =>
      assert.match(await card('key-auth').innerText(), /global, 1 service|1 service, global/),
    );
    await page.getByLabel('State').selectOption('used');
    await page.waitForURL('**/plugins?state=used');
    await untilPasses(async () => assert.equal(await page.locator('.catalog a').count(), 1));
    await page.getByRole('searchbox', { name: 'Search plugins' }).fill('cors');
    await page.getByRole('heading', { name: 'Nothing matches' }).waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
  });

  test('renders the README of a plugin, with links to its instances', async () => {
    await card('key-auth').click();
    await page.getByRole('heading', { level: 1, name: 'key-auth' }).waitFor();
    await page.getByRole('heading', { name: 'Keys that are stored hashed' }).waitFor();
    await page.getByRole('cell', { name: 'hide_credentials' }).first().waitFor();
    await page.getByRole('link', { name: 'on service users' }).click();
    await page.locator('form .form-foot').waitFor();
    await page.goBack();
    await desk.check('the page of a plugin');
  });

  test('a plugin of a user shows what it declares, and that it is trusted code', async () => {
    await page.goto(`${rig.url}/plugins/plain`);
    const line = page.locator('.plugin-capabilities');
    await line.getByText('network', { exact: true }).waitFor();
    await untilPasses(async () =>
      assert.match(await line.innerText(), /Version 1\.0\.0\. Trusted code\. Declared capabilities: network\s*env/),
    );
    await desk.check('the capabilities of a plugin');
    await page.goto(`${rig.url}/plugins/hostile`);
    await line.getByText('does not declare what it reaches').waitFor();
    await page.goto(`${rig.url}/plugins/key-auth`);
    await page.getByRole('heading', { level: 1, name: 'key-auth' }).waitFor();
    assert.equal(await line.count(), 0);
  });

  test('examples fill the form, and the gateway accepts them', async () => {
    await page.goto(`${rig.url}/plugins/rate-limiting`);
    const examples = examplesOf('rate-limiting', await readmeOf('rate-limiting'));
    assert.ok(examples.length >= 4);
    const at = examples.findIndex(({ config }) => config['rate'] === '10r/s');
    await page.getByRole('link', { name: examples[at]?.title ?? '' }).click();
    await page.getByRole('heading', { name: 'New plugin: rate-limiting' }).waitFor();
    await untilPasses(async () => assert.equal(await page.locator('#field-config-rate').inputValue(), '10r/s'));
    await untilPasses(async () => assert.equal(await page.locator('#field-config-burst').inputValue(), '20'));
    await page.locator('form .form-foot button[type=submit]').click();
    await page.getByRole('button', { name: 'Delete', exact: true }).waitFor();
    const { body } = await rig.gateway.admin('GET', '/plugins');
    const row = (
      body['data'] as readonly { readonly name: string; readonly config: { readonly burst: number } }[]
    ).find(({ name }) => name === 'rate-limiting');
    assert.equal(row?.config.burst, 20);
  });

  test('a form has the groups of the README', async () => {
    await desk.go('/config/plugins/new?name=rate-limiting');
    await page.getByRole('heading', { name: 'New plugin: rate-limiting' }).waitFor();
    const groups = await page.locator('form details.more > summary').allInnerTexts();
    assert.ok(
      groups.some((title) => /^An even rate \(\d+ fields?\)/.test(title)),
      groups.join(),
    );
    assert.ok(
      groups.some((title) => /more fields?/.test(title)),
      groups.join(),
    );
    await page.getByText(/^An even rate/).click();
    await page.locator('#field-config-zone_size').waitFor();
    await desk.check('an open group');
  });

  test('the examples of all plugins are valid', async () => {
    let count = 0;
    for (const name of finishedPlugins()) {
      const schema = (await rig.gateway.admin('GET', `/schemas/plugins/${name}`)).body as unknown as EntitySchema;
      const fields = fieldsOf(schema).find((field) => field.name === 'config')?.schema ?? { type: 'record' };
      for (const { title, config, complete } of examplesOf(name, await readmeOf(name))) {
        // A file that the reader has is not here.
        if (!complete || config['file'] !== undefined) continue;
        const body = { name, config: exampleValue(config, fields) };
        const { status, body: answer } = await rig.gateway.admin('POST', '/schemas/plugins/validate', body);
        assert.equal(status, 200, `${name}, ${title}: ${JSON.stringify(answer)}`);
        count++;
      }
    }
    assert.ok(count > 80, `${count} examples`);
  });

  test('a plugin of a user has its README, in which nothing is executed; without one its fields', async () => {
    await page.goto(`${rig.url}/plugins/hostile`);
    const docs = page.getByRole('article');
    await docs.getByText('onerror=alert(1)').waitFor();
    assert.equal(await docs.locator('img, script').count(), 0);
    await untilPasses(async () =>
      assert.deepEqual(await docs.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href'))), [
        '/plugins/key-auth',
      ]),
    );
    await docs.getByText('x|y').waitFor();
    await page.getByRole('link', { name: 'With greeting' }).click();
    await page.getByRole('heading', { name: 'New plugin: hostile' }).waitFor();
    await untilPasses(async () =>
      assert.equal(await page.locator('#field-config-greeting').inputValue(), '<script>alert(1)</script>'),
    );
    await page.goto(`${rig.url}/plugins/plain`);
    await docs.getByText('What to say to <b>everybody</b>.').waitFor();
    await desk.check('a plugin without a README');
    await page.goto(`${rig.url}/plugins/none`);
    await page.getByRole('heading', { name: 'No such plugin' }).waitFor();
  });

  test('shows what plugins cost where the gateway measures it, and is usable at 360 px', async () => {
    const costs = {
      data: [{ plugin: 'key-auth', samples: 1200, p50: 12, p99: 2345, phases: {} }],
      requests: 1200,
      from: 1,
      to: 2,
    };
    await page.route('**/api/traffic/plugins', (route) => route.fulfill({ json: costs }));
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${rig.url}/plugins`);
    await card('key-auth').getByText('12 µs a request').waitFor();
    const overflow = () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok((await overflow()) <= 0);
    await card('key-auth').click();
    await page.getByText('2.3 ms for the slowest 1 %').waitFor();
    assert.ok((await overflow()) <= 0);
    await desk.check('the page of a plugin at 360 px');
  });
});
