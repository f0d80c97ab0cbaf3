// APIs: the import with its preview, the reference, and the portal for consumers.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type DashboardRig, skipWithoutChromium, startDashboardRig } from '../support/dashboard.ts';
import { untilPasses } from '../support/until.ts';

const skip = skipWithoutChromium();

const shop = `
openapi: 3.1.0
info:
  title: Tea Shop
  version: "2"
  description: 'See https://example.com/docs. <img src=x onerror="document.title=1"> javascript:alert(1)'
servers: [{ url: "BACKEND/v1" }]
security: [{ token: [] }]
tags: [{ name: orders, description: Everything about orders }]
paths:
  /orders:
    get:
      operationId: listOrders
      summary: List orders
      tags: [orders]
      parameters: [{ name: limit, in: query, schema: { type: integer, maximum: 100 } }]
      responses:
        "200":
          description: The orders
          content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Order" } }, example: [{ tea: green }] } }
      x-kong-plugin-key-auth: { config: { key_names: [x-key] } }
      x-kong-plugin-rate-limiting: { config: { minute: 100, policy: local } }
  /orders/{id}:
    delete:
      operationId: deleteOrder
      summary: Delete an order
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses: { "204": { description: Gone } }
components:
  securitySchemes: { token: { type: oauth2, flows: {} } }
  schemas:
    Order:
      type: object
      required: [tea]
      properties:
        tea: { type: string, enum: [green, black], description: "What is in the pot" }
        parts: { type: array, items: { $ref: "#/components/schemas/Order" } }
        constructor: { type: string }
`;

describe('APIs', { skip }, () => {
  let rig: DashboardRig;
  before(async () => {
    rig = await startDashboardRig({ env: { KONG_PORTAL_LISTEN: '127.0.0.1:0' } });
  });
  after(async () => rig[Symbol.asyncDispose]());

  const rows = async (path: string): Promise<readonly unknown[]> =>
    (await rig.gateway.admin('GET', path)).body['data'] as readonly unknown[];

  test('a document is refused at its place, previewed, and imported', async () => {
    await using desk = await rig.open('/apis');
    const { page } = desk;
    await page.getByRole('heading', { name: 'No APIs yet' }).waitFor();
    await page.getByRole('button', { name: 'Import a document' }).click();
    const document = shop.replace('BACKEND', 'http://127.0.0.1:9');
    await page.getByLabel('Document', { exact: true }).fill(document.replace('key_names', 'names'));
    await page.getByRole('button', { name: 'Preview' }).click();
    const alert = page.getByRole('alert');
    await alert.getByText("plugins 'key-auth'").waitFor();
    await desk.check('a refused document');
    await alert.getByRole('button').click();
    const selected = await page.evaluate<string>('getSelection()?.toString()');
    assert.equal(selected, 'x-kong-plugin-key-auth');
    assert.deepEqual(await rows('/services'), []);

    const file = { name: 'shop.yaml', mimeType: 'application/yaml', buffer: Buffer.from(document) };
    await page.getByLabel('File').setInputFiles(file);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('heading', { name: '6 new, 0 changed, 0 unchanged' }).waitFor();
    await page.getByText('the security scheme "token" is shown in the reference').waitFor();
    await page.getByText('~/v1/orders/(?<id>[^/]+)$').waitFor();
    await desk.check('a preview');
    assert.deepEqual(await rows('/services'), [], 'a preview writes nothing');

    await page.getByText('Options').click();
    await page.getByLabel('Tags').fill('team-a');
    await untilPasses(async () =>
      assert.equal(
        await page.getByRole('button', { name: /^Import \d/ }).count(),
        0,
        'another import needs another preview',
      ),
    );
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('button', { name: 'Import 6 changes' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tea Shop' }).waitFor();
    assert.equal((await rows('/routes')).length, 2);
  });

  test('the reference shows operations with their demands, in both themes and at 360 pixels', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const width = colorScheme === 'light' ? 1280 : 360;
      await using desk = await rig.open('/apis', { colorScheme, viewport: { width, height: 800 } });
      const { page } = desk;
      await page.getByRole('link', { name: /Tea Shop/ }).click();
      await page.getByRole('heading', { level: 1, name: 'Tea Shop' }).waitFor();
      await page.getByText('List orders').click();
      await page.getByText('100 requests per minute').waitFor();
      await page.getByText('header x-key').waitFor();
      await page.getByText('What is in the pot').waitFor();
      // The schema contains itself: each level opens at a click.
      await page.getByRole('button', { name: /Show/ }).first().click();
      await page.getByText('Delete an order').click();
      await desk.check(`a reference, ${colorScheme}, ${width} px`);
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok(overflow <= 0, `${overflow} px too wide`);
      const links = await page
        .locator('.plain-text a')
        .evaluateAll((all) => all.map((one) => one.getAttribute('href')));
      assert.deepEqual(links, ['https://example.com/docs']);
      assert.equal(await page.locator('main img[src="x"]').count(), 0, 'a description is a text');
      const tryIt = await page.getByRole('link', { name: 'Try it' }).first().getAttribute('href');
      assert.match(String(tryIt), /\/playground\?method=GET&url=%2Fv1%2Forders/);
    }
  });

  test('a consumer signs in to the portal, reads its APIs, and sees its usage and keys', async () => {
    const { admin, proxyUrl, gateway } = rig.gateway;
    for (const [username, key] of [
      ['ann', 'key-of-ann-0123456789'],
      ['bob', 'key-of-bob-0123456789'],
    ] as const) {
      assert.equal((await admin('POST', '/consumers', { username })).status, 201);
      assert.equal((await admin('POST', `/consumers/${username}/key-auth`, { key })).status, 201);
    }
    for (const key of ['key-of-ann-0123456789', 'key-of-ann-0123456789', 'key-of-bob-0123456789']) {
      // Nothing listens at the backend.
      const { status } = await fetch(`${proxyUrl}/v1/orders`, { headers: { 'x-key': key } });
      assert.equal(status, 502);
    }
    const portal = `http://127.0.0.1:${gateway.addresses.portal[0]?.port}`;
    for (const colorScheme of ['light', 'dark'] as const) {
      const width = colorScheme === 'light' ? 1280 : 360;
      await using desk = await rig.open('/apis', { colorScheme, viewport: { width, height: 800 } });
      const { page, context } = desk;
      await page.goto(portal);
      await page.getByRole('heading', { name: 'Sign in to the API portal' }).waitFor();
      await page.getByLabel('API key').fill('wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').getByText('This key is not valid.').waitFor();
      await desk.check('the refused sign-in of the portal');
      await page.getByLabel('API key').fill('key-of-ann-0123456789');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Welcome, ann' }).waitFor();
      await page.getByText('key-…').waitFor();
      await page.locator('.portal-numbers').getByText('2', { exact: true }).waitFor();
      await desk.check(`the portal, ${colorScheme}, ${width} px`);
      const fits = async (): Promise<void> => {
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        assert.ok(overflow <= 0, `${overflow} px too wide`);
      };
      await fits();
      await page.getByRole('link', { name: /Tea Shop/ }).click();
      await page.getByText('List orders').click();
      await page.getByText('100 requests per minute').waitFor();
      await desk.check(`a reference in the portal, ${colorScheme}, ${width} px`);
      await fits();
      const text = await page.locator('body').innerText();
      assert.doesNotMatch(text, /bob|127\.0\.0\.1:9\b|listOrders/);
      assert.deepEqual(await context.cookies(), []);
      assert.ok(!page.url().includes('key-of'));
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in to the API portal' }).waitFor();
      assert.equal(await page.evaluate('JSON.stringify(sessionStorage)'), '{}');
    }
    // A key that is deleted ends its session at the next request.
    await using desk = await rig.open('/apis');
    const { page } = desk;
    await page.goto(`${portal}/portal/`);
    await page.getByLabel('API key').fill('key-of-bob-0123456789');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Welcome, bob' }).waitFor();
    const [key] = (await admin('GET', '/consumers/bob/key-auth')).body['data'] as readonly { readonly id: string }[];
    await admin('DELETE', `/consumers/bob/key-auth/${key?.id}`);
    const ended = page.getByText('Your key is no longer valid.').waitFor();
    const refreshed = page.getByRole('button', { name: 'Refresh' }).click();
    // The page may have read again by itself, and has no button then.
    await Promise.race([ended, refreshed.catch(() => {})]);
    await ended;
  });
});
