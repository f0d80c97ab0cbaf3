// Every entity in a browser: its form with a refusal and a success, an edit, a clone, and its deletion.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type DashboardPage, type DashboardRig, skipWithoutChromium, startDashboardRig } from '../support/dashboard.ts';
import { selfSigned } from '../support/self-signed.ts';
import { untilPasses } from '../support/until.ts';
import { fillForm, save } from './fill-form.ts';

const skip = skipWithoutChromium();

interface EntityCase {
  /** What is entered, by field. */
  readonly fields: Readonly<Record<string, string>>;
  /** The field at which the gateway refuses an empty form; null: it accepts one, or refuses the entity as a whole. */
  readonly refusedAt: string | null;
}

const certificate = skip === false ? selfSigned('dashboard.test') : { cert: '', key: '' };
const authority = skip === false ? selfSigned('authority.test') : { cert: '', key: '' };

/** In an order in which references exist. */
const cases: Readonly<Record<string, EntityCase>> = {
  services: { fields: { name: 'billing', host: 'billing.test', port: '8080', tags: 'team-a' }, refusedAt: 'host' },
  routes: { fields: { name: 'invoices', paths: '/invoices', service: 'billing' }, refusedAt: null },
  upstreams: { fields: { name: 'pool.internal', slots: '100' }, refusedAt: 'name' },
  apis: { fields: { name: 'invoices-api', service: 'billing', version: '1' }, refusedAt: 'name' },
  consumers: { fields: { username: 'ada', custom_id: '42' }, refusedAt: null },
  certificates: { fields: certificate, refusedAt: 'cert' },
  snis: { fields: { name: 'other.test', certificate: '' }, refusedAt: 'name' },
  ca_certificates: { fields: { cert: authority.cert }, refusedAt: 'cert' },
  keyauth_credentials: { fields: { consumer: 'ada', key: 'a-key-of-the-test' }, refusedAt: null },
  basicauth_credentials: { fields: { consumer: 'ada', username: 'ada', password: 'pw' }, refusedAt: 'username' },
  hmacauth_credentials: { fields: { consumer: 'ada', username: 'ada' }, refusedAt: 'username' },
  jwt_secrets: { fields: { consumer: 'ada', key: 'issuer', secret: 'shared' }, refusedAt: null },
  oauth2_credentials: { fields: { consumer: 'ada', name: 'app' }, refusedAt: 'name' },
  mtls_auth_credentials: { fields: { consumer: 'ada', subject_name: 'ada@example.test' }, refusedAt: 'subject_name' },
  acls: { fields: { consumer: 'ada', group: 'staff' }, refusedAt: 'group' },
};

describe('entities in the dashboard', { skip }, () => {
  let rig: DashboardRig;
  let desk: DashboardPage;
  before(async () => {
    rig = await startDashboardRig();
    desk = await rig.open('/');
  });
  after(async () => {
    await desk?.[Symbol.asyncDispose]();
    await rig?.[Symbol.asyncDispose]();
  });

  async function go(path: string): Promise<void> {
    await desk.go(path);
  }

  test('every entity with a list has a case here, or is written by the gateway itself', async () => {
    const { body } = await rig.gateway.admin('GET', '/schemas');
    const entities = body['entities'] as readonly {
      readonly name: string;
      readonly path: string | null;
      readonly in_config: boolean;
    }[];
    const others = new Set(['plugins', 'admin_users']);
    const wanted = entities.filter(
      ({ name, path, in_config: inConfig }) => path !== null && inConfig && !others.has(name),
    );
    assert.deepEqual(wanted.map(({ name }) => name).sort(), Object.keys(cases).sort());
  });

  for (const [entity, { fields, refusedAt }] of Object.entries(cases)) {
    test(entity, async () => {
      const { page } = desk;
      await go(`/config/${entity}`);
      await page.getByRole('link', { name: /^New / }).first().click();
      await page.locator('form .form-foot').waitFor();
      await desk.check(`the form of ${entity}`);
      if (refusedAt !== null) {
        await save(page);
        await page.locator(`#field-${refusedAt}-problem`).waitFor();
        await desk.check(`the refused form of ${entity}`);
      }
      const { certificate: reference, ...others } = fields;
      await fillForm(page, others);
      if (reference !== undefined) await fillForm(page, { certificate: await firstId(rig, '/certificates') });
      await save(page);
      await page.getByRole('button', { name: 'Delete', exact: true }).waitFor();
      const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      const path = await pathOf(rig, entity);
      const created = (await rig.gateway.admin('GET', `${path}/${id}`)).body;
      await desk.check(`the page of ${entity}`);

      await page.locator('#field-tags').fill('edited');
      await save(page);
      await page.getByText('Saved.').waitFor();
      const edited = (await rig.gateway.admin('GET', `${path}/${id}`)).body;
      const unchanged = (row: Readonly<Record<string, unknown>>) => ({ ...row, tags: null, updated_at: null });
      assert.deepEqual(edited['tags'], ['edited']);
      assert.deepEqual(unchanged(edited), unchanged(created), 'nothing else has changed');
    });
  }

  test('clones, disables and deletes', async () => {
    const { page } = desk;
    await go('/config/services');
    await page
      .getByRole('link', { name: /billing/ })
      .first()
      .click();
    await page.getByRole('link', { name: 'Clone' }).click();
    await untilPasses(async () => assert.equal(await page.locator('#field-name').inputValue(), 'billing-copy'));
    await save(page);
    await page.getByRole('heading', { name: 'billing-copy' }).waitFor();
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'PATCH'),
      page.getByRole('switch', { name: 'Enabled' }).first().click(),
    ]);
    assert.equal(answer.status(), 200);
    assert.equal((await rig.gateway.admin('GET', '/services/billing-copy')).body['enabled'], false);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await desk.check('the dialog of a deletion');
    await page.getByRole('button', { name: 'Cancel' }).click();
    assert.equal((await rig.gateway.admin('GET', '/services/billing-copy')).status, 200);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('button', { name: 'Delete service' }).click();
    await page.waitForURL('**/config/services');
    assert.equal((await rig.gateway.admin('GET', '/services/billing-copy')).status, 404);
  });

  test('a user who opens another page before the gateway answers stays there', async () => {
    const { page } = desk;
    await go('/config/services/new');
    await fillForm(page, { name: 'slow', host: 'slow.test' });
    const asked = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    await page.route('**/api/services', async (route) => {
      if (route.request().method() === 'POST') {
        asked.resolve();
        await gone.promise;
      }
      await route.continue();
    });
    await page.getByRole('button', { name: 'Create service' }).click();
    await asked.promise;
    await page.getByRole('link', { name: 'Consumers', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Consumers' }).waitFor();
    gone.resolve();
    await page.getByText('Created service slow.').waitFor();
    assert.equal(new URL(page.url()).pathname, '/config/consumers');
    await page.unrouteAll();
  });

  test('a deletion that the gateway refuses says why', async () => {
    const { page } = desk;
    await go('/config/services/billing');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('button', { name: 'Delete service' }).click();
    await page.getByRole('alertdialog').getByRole('alert').getByText('routes').waitFor();
    assert.equal((await rig.gateway.admin('GET', '/services/billing')).status, 200);
    await page.getByRole('button', { name: 'Cancel' }).click();
  });

  test('a tag leads to the others that have it', async () => {
    const { page } = desk;
    await go('/config/services/billing');
    await page.getByRole('link', { name: 'Services with edited' }).click();
    await page.waitForURL('**/config/services?tag=edited');
    await page
      .getByRole('link', { name: /billing/ })
      .first()
      .waitFor();
  });

  test('targets are below their upstream, with links both ways', async () => {
    const { page } = desk;
    await go('/config/upstreams/pool.internal');
    await page.getByRole('link', { name: 'Add target' }).click();
    await save(page);
    await page.locator('#field-target-problem').waitFor();
    await fillForm(page, { target: '10.0.0.9:8080' });
    await save(page);
    await page.getByRole('link', { name: /10\.0\.0\.9:8080/ }).click();
    await page.getByRole('heading', { name: '10.0.0.9:8080' }).waitFor();
    await fillForm(page, { weight: '5' });
    await save(page);
    const { body } = await rig.gateway.admin('GET', '/upstreams/pool.internal/targets');
    assert.equal((body['data'] as readonly { readonly weight: number }[])[0]?.weight, 5);
    await page.getByRole('link', { name: 'pool.internal' }).click();
    await page.getByRole('heading', { name: 'pool.internal' }).waitFor();
  });
});

async function pathOf(rig: DashboardRig, entity: string): Promise<string> {
  const { body } = await rig.gateway.admin('GET', '/schemas');
  const entities = body['entities'] as readonly { readonly name: string; readonly path: string }[];
  return entities.find(({ name }) => name === entity)?.path ?? '';
}

async function firstId(rig: DashboardRig, path: string): Promise<string> {
  const { body } = await rig.gateway.admin('GET', path);
  const [row] = body['data'] as readonly { readonly id: string; readonly snis?: readonly string[] }[];
  return row?.id ?? '';
}
