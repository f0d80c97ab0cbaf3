// Changes and the way back in a browser: what a change does before it is saved, undo, the history, rollback, and each action as code.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { type DashboardPage, type DashboardRig, skipWithoutChromium, startDashboardRig } from '../support/dashboard.ts';
import { untilPasses } from '../support/until.ts';
import { callAdminAs } from './call-admin-as.ts';
import { fillForm, save } from './fill-form.ts';

const skip = skipWithoutChromium();
const run = promisify(execFile);

/** Texts that shells, YAML and JavaScript could read as something else. */
const hostile = `it's "quoted" $(touch owned) \`id\` \\ $HOME\n- a: b # c\n\u2028é日本🚰 \${x} %0a`;

/** An effect as `POST /what-if` answers. */
const effect = {
  requests: { kept: 1200, replayed: 1000, undecided: 3, from: null, to: null },
  ...{ refused: 12, admitted: 0, rerouted: 1, changed: 13 },
  groups: [
    {
      before: { status: 200, by: 'backend', who: '10.0.0.7:80', route: { id: 'r', name: 'users' }, service: null },
      after: { status: 401, by: 'plugin', who: 'key-auth', route: null, service: null, reason: 'No API key was sent.' },
      count: 12,
      examples: ['0190-example'],
    },
  ],
  undecided: [{ reason: 'It calls another server.', plugin: 'ldap-auth', count: 3 }],
};

describe('history in the dashboard', { skip }, () => {
  let rig: DashboardRig;
  let desk: DashboardPage;
  let folder: string;
  before(async () => {
    rig = await startDashboardRig();
    desk = await rig.open('/');
    folder = await mkdtemp(join(tmpdir(), 'sluicegate-history-'));
  });
  after(async () => {
    await desk?.[Symbol.asyncDispose]();
    await rig?.[Symbol.asyncDispose]();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const admin = (method: string, path: string, body?: unknown) => rig.gateway.admin(method, path, body);
  const go = (path: string) => desk.page.goto(`${rig.url}${path}`);

  async function create(path: string, body: object): Promise<string> {
    const answer = await admin('POST', path, body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return String(answer.body['id']);
  }

  /** The whole config with ids, without what each write sets. */
  async function exported(): Promise<string> {
    const text = await (await fetch(`${rig.gateway.adminUrl}/config/export?format=json`)).text();
    return text.replace(/"updated_at":\s*[\d.]+/g, '"updated_at": 0');
  }

  async function undo(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Undo', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Undone.').waitFor();
  }

  test('an edit shows its difference, is saved, and is undone with the keyboard; then redone', async () => {
    const { page } = desk;
    const id = await create('/services', { name: 'orders', host: 'orders.test', tags: ['team-a'] });
    const start = await exported();
    await go(`/config/services/${id}`);
    await fillForm(page, { host: 'other.test', retries: '2' });
    const panel = page.locator('.change-panel');
    await panel.locator('ins', { hasText: 'other.test' }).waitFor();
    await untilPasses(async () => assert.deepEqual(await panel.locator('dt').allInnerTexts(), ['retries', 'host']));
    await untilPasses(async () => assert.deepEqual(await panel.locator('del').allInnerTexts(), ['5', 'orders.test']));
    await untilPasses(async () => assert.deepEqual(await panel.locator('ins').allInnerTexts(), ['2', 'other.test']));
    await desk.check('a form with its change');
    await page.locator('#field-host').press('Enter');
    await page.getByText('Saved.').waitFor();
    await desk.check('a saved change');
    const saved = await exported();
    assert.notEqual(saved, start);
    await undo(page);
    assert.equal(await exported(), start);
    await page.waitForFunction('document.querySelector("#field-host")?.value === "orders.test"');
    await page.getByRole('button', { name: 'Redo' }).click();
    await page.getByText('Done again.').waitFor();
    assert.equal(await exported(), saved);
    await go('/config/services');
    await page.getByRole('link', { name: /orders/ }).click();
    await page.getByRole('switch', { name: 'Enabled' }).first().click();
    await page.getByText('Disabled.').waitFor();
    await page.getByRole('link', { name: 'Routes', exact: true }).click();
    await page.getByRole('button', { name: 'Undo', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await untilPasses(async () =>
      assert.equal(await page.getByRole('button', { name: 'Undo', exact: true }).count(), 0),
    );
  });

  test('a deletion is undone with the ids of everything that it took', async () => {
    const { page } = desk;
    const pool = await create('/upstreams', { name: 'pool' });
    await create('/upstreams/pool/targets', { target: '10.0.0.1:80' });
    const consumer = await create('/consumers', { username: 'ada' });
    await create('/consumers/ada/key-auth', { key: 'the-key-of-ada' });
    await create('/plugins', { name: 'rate-limiting', consumer: { id: consumer }, config: { minute: 5 } });
    const start = await exported();
    for (const [path, one] of [
      [`/config/upstreams/${pool}`, 'upstream'],
      [`/config/consumers/${consumer}`, 'consumer'],
    ] as const) {
      await go(path);
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('alertdialog').getByText('What is deleted').waitFor();
      await desk.check(`the deletion of a ${one}`);
      await page.getByRole('button', { name: `Delete ${one}` }).click();
      await page.getByText(`Deleted ${one}`).waitFor();
      assert.notEqual(await exported(), start);
      await undo(page);
      assert.equal(await exported(), start);
    }
  });

  test('a creation is undone, and secrets are nowhere in what is shown', async () => {
    const { page } = desk;
    const start = await exported();
    await go('/config/keyauth_credentials/new');
    await fillForm(page, { consumer: 'ada', key: 'a-secret-that-was-typed', tags: 'x' });
    await page.getByText('As curl, decK or TypeScript').click();
    for (const tab of ['curl', 'decK', 'TypeScript']) {
      await page.getByRole('tab', { name: tab }).click();
      // The panel before may still be there for a moment.
      await page.locator('.code-tabs pre', { hasText: '<secret>' }).last().waitFor();
      const text = await page.locator('.change-panel').innerText();
      assert.doesNotMatch(text, /a-secret-that-was-typed|the-key-of-ada/, tab);
    }
    await desk.check('a form with its code');
    await save(page);
    await page.getByText('Created API key').waitFor();
    await undo(page);
    await page.waitForURL('**/config/keyauth_credentials');
    assert.equal(await exported(), start);
  });

  test('an undo does not overwrite what somebody else has changed meanwhile', async () => {
    const { page } = desk;
    const id = await create('/services', { name: 'shared', host: 'shared.test' });
    await go(`/config/services/${id}`);
    await fillForm(page, { host: 'mine.test' });
    await save(page);
    await page.getByText('Saved.').waitFor();
    assert.equal((await admin('PATCH', `/services/${id}`, { host: 'theirs.test' })).status, 200);
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('services shared was changed again by anonymous').waitFor();
    await desk.check('an undo that is refused');
    assert.equal((await admin('GET', `/services/${id}`)).body['host'], 'theirs.test');
  });

  test('the effect on requests is shown next to the form, and never keeps one from saving', async () => {
    const { page } = desk;
    const id = await create('/services', { name: 'tried', host: 'tried.test' });
    let answers: 'effect' | 'none' | 'old' | 'slow' | 'broken' | 'invalid' = 'effect';
    const sent: unknown[] = [];
    await page.route('**/api/what-if', async (route) => {
      sent.push(route.request().postDataJSON());
      if (answers === 'slow') return;
      const [status, json] = {
        effect: [200, effect],
        none: [200, { ...effect, requests: { kept: 0, replayed: 0, undecided: 0 }, groups: [], undecided: [] }],
        old: [404, { message: 'Not found' }],
        broken: [503, { message: 'the workers are busy' }],
        invalid: [400, { message: 'schema violation (host: invalid value)' }],
      }[answers] as [number, object];
      await route.fulfill({ status, json });
    });
    await go(`/config/services/${id}`);
    await fillForm(page, { host: 'next.test' });
    await page.getByText('This would refuse 12 and send 1 to another route or service of the last 1,000').waitFor();
    assert.deepEqual(sent.at(-1), {
      changes: [{ method: 'PATCH', path: `/services/${id}`, body: { host: 'next.test' } }],
      requests: 1000,
    });
    await untilPasses(async () =>
      assert.match(
        await page.locator('.effect-groups').innerText(),
        /12 200 by the backend, route users .*401 by key-auth/s,
      ),
    );
    await untilPasses(async () =>
      assert.equal(await page.getByRole('link', { name: 'Example' }).getAttribute('href'), '/traffic/0190-example'),
    );
    await page.getByText('3 undecided: It calls another server. (ldap-auth)').waitFor();
    await desk.check('the effect of a change');
    const texts = {
      none: 'No requests recorded yet: the recorder is on now.',
      old: 'This version of the gateway cannot try changes on requests.',
      broken: 'The effect is unknown: the workers are busy',
      invalid: 'The effect is shown once the gateway accepts the values: schema violation',
    };
    for (const [answer, text] of Object.entries(texts)) {
      answers = answer as keyof typeof texts;
      await fillForm(page, { host: `${answer}.test` });
      await page.getByText(text).waitFor();
    }
    answers = 'slow';
    await fillForm(page, { host: 'slow.test' });
    await save(page);
    await page.getByText('Saved.').waitFor();
    await page.unroute('**/api/what-if');
    assert.equal((await admin('GET', `/services/${id}`)).body['host'], 'slow.test');
  });

  test('the effect comes from the gateway', async () => {
    const { page } = desk;
    const id = await create('/services', { name: 'real', url: rig.gateway.adminUrl });
    await create('/services/real/routes', { name: 'real', paths: ['/real'] });
    await go(`/config/plugins/new?name=key-auth&parent=services&parentId=${id}`);
    await fillForm(page, { tags: 'x' });
    const shown = page.getByText(/No requests recorded yet|This would/);
    await shown.waitFor();
    for (let count = 0; count < 5; count++) await fetch(`${rig.gateway.proxyUrl}/real`);
    await fillForm(page, { tags: 'y' });
    await page.getByText(/This would refuse \d+ of the last/).waitFor();
  });

  test('the history names who changed what; versions are compared, and one is rolled back to', async () => {
    const { page } = desk;
    const id = await create('/services', { name: 'listed', host: 'one.test' });
    const [first] = (await admin('GET', '/config/versions?size=1')).body['data'] as readonly { version: number }[];
    await admin('PATCH', `/services/${id}`, { host: 'two.test' });
    await admin('PATCH', `/services/${id}`, { host: 'three.test' });
    const start = await exported();
    await go('/history?entity=services');
    const rows = page.getByRole('list', { name: 'Changes' }).getByRole('listitem');
    await rows.first().getByText('Changed service listed').waitFor();
    await rows.first().getByText('anonymous from 127.0.0.1').waitFor();
    await desk.check('the history');
    await page.getByLabel('Who').selectOption('anonymous');
    await page.getByLabel('Time').selectOption('hour');
    await page.waitForURL('**/history?entity=services&actor=anonymous&since=hour');
    await rows.first().getByText('Changed service listed').waitFor();
    await go('/history?actor=nobody');
    await page.getByRole('heading', { name: 'Nothing matches' }).waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await rows.first().getByRole('link').click();
    await page.locator('ins', { hasText: 'three.test' }).waitFor();
    await untilPasses(async () => assert.deepEqual(await page.locator('del').allInnerTexts(), ['two.test']));
    await desk.check('a version');
    await page.getByLabel('Another version').fill(String(first?.version));
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.locator('del', { hasText: 'one.test' }).waitFor();
    await untilPasses(async () => assert.deepEqual(await page.locator('ins').allInnerTexts(), ['three.test']));
    await desk.check('a comparison');
    await go(`/history/${first?.version}?against=current`);
    await page.locator('del', { hasText: 'three.test' }).waitFor();
    await page.getByRole('button', { name: 'Roll back to this' }).click();
    await page.getByRole('alertdialog').locator('ins', { hasText: 'one.test' }).waitFor();
    await desk.check('the preview of a rollback');
    await page.getByRole('button', { name: 'Roll back', exact: true }).click();
    await page.getByText(`The config is that of version ${first?.version}.`).waitFor();
    assert.equal((await admin('GET', `/services/${id}`)).body['host'], 'one.test');
    await undo(page);
    assert.equal(await exported(), start);
    await go('/history/99999999');
    await page.getByRole('heading', { name: 'This version is not kept' }).waitFor();
    await desk.check('a version that is not kept');
  });

  test('the command, the file and the program of a change make what the form would make', async () => {
    const { page } = desk;
    await create('/services', { name: 'coded', host: 'coded.test', path: '/a' });
    await go('/config/plugins/new?name=request-termination');
    await fillForm(page, { service: 'coded', 'config.status_code': '418', 'config.message': hostile });
    await page.getByText('As curl, decK or TypeScript').click();
    const ways: Readonly<Record<string, (text: string) => Promise<unknown>>> = {
      curl: (text) => run('sh', ['-c', text], { cwd: folder }),
      decK: async (text) => {
        const response = await fetch(`${rig.gateway.adminUrl}/config/apply?mode=merge`, {
          method: 'POST',
          headers: { 'content-type': 'application/yaml' },
          body: text,
        });
        assert.equal(response.status, 200, await response.text());
      },
      TypeScript: async (text) => {
        const file = join(folder, 'change.ts');
        await writeFile(file, text);
        await run(process.execPath, ['--disable-warning=ExperimentalWarning', file], { cwd: folder });
      },
    };
    const made: unknown[] = [];
    for (const [tab, way] of Object.entries(ways)) {
      await way(await codeIn(page, tab));
      made.push(await takenPlugin('request-termination'));
    }
    await save(page);
    await page.getByText('Created plugin').waitFor();
    const wanted = await takenPlugin('request-termination');
    assert.match(JSON.stringify(wanted), /owned/);
    for (const one of made) assert.deepEqual(one, wanted);

    // An edit, and a deletion.
    const id = String((await admin('GET', '/services/coded')).body['id']);
    for (const [tab, way] of Object.entries(ways)) {
      await go(`/config/services/${id}`);
      await fillForm(page, { host: `${tab.toLowerCase()}.test`, path: '' });
      await page.getByText('As curl, decK or TypeScript').click();
      await way(await codeIn(page, tab));
      const { host, path } = (await admin('GET', `/services/${id}`)).body;
      assert.deepEqual([host, path], [`${tab.toLowerCase()}.test`, null], tab);
      await admin('PATCH', `/services/${id}`, { host: 'coded.test', path: '/a' });
    }
    await go(`/config/services/${id}`);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('As curl, decK or TypeScript').click();
    await ways['curl']?.(await codeIn(page, 'curl'));
    assert.equal((await admin('GET', `/services/${id}`)).status, 404);
    await assert.rejects(run('test', ['-e', join(folder, 'owned')]));
  });

  async function codeIn(page: Page, tab: string): Promise<string> {
    await page.getByRole('tab', { name: tab }).click();
    return (await page.getByRole('tabpanel', { name: tab }).locator('pre').textContent()) ?? '';
  }

  /** The only instance of a plugin, without what differs between two creations. It is deleted. */
  async function takenPlugin(name: string): Promise<unknown> {
    const { body } = await admin('GET', '/plugins?size=1000');
    const found = (body['data'] as readonly Record<string, unknown>[]).filter((row) => row['name'] === name);
    assert.equal(found.length, 1);
    const { id, created_at: _created, updated_at: _updated, ...rest } = found[0] ?? {};
    assert.equal((await admin('DELETE', `/plugins/${id}`)).status, 204);
    return rest;
  }

  test('both themes and a narrow page', async () => {
    const id = await create('/services', { name: 'narrow', host: 'narrow.test' });
    for (const colorScheme of ['light', 'dark'] as const) {
      await using narrow = await rig.open('/history', { viewport: { width: 360, height: 740 }, colorScheme });
      const { page } = narrow;
      await page.getByRole('list', { name: 'Changes' }).waitFor();
      await fits(page, 'the history');
      await narrow.check(`the history, ${colorScheme}`);
      await page.getByRole('list', { name: 'Changes' }).getByRole('link').first().click();
      await page.getByText('Created', { exact: true }).first().waitFor();
      await fits(page, 'a version');
      await narrow.check(`a version, ${colorScheme}`);
      await page.goto(`${rig.url}/config/services/${id}`);
      await fillForm(page, { host: 'a-very-long-name-of-a-host-that-does-not-fit-in-one-line.narrow.test' });
      await page.getByText('As curl, decK or TypeScript').click();
      await page.getByRole('tab', { name: 'TypeScript' }).click();
      await fits(page, 'a change');
      await narrow.check(`a change, ${colorScheme}`);
      page.once('dialog', (dialog) => void dialog.accept());
    }
  });

  async function fits(page: Page, name: string): Promise<void> {
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    assert.ok(width <= 360, `${name} is ${width} pixels wide`);
  }

  test('without a database and an audit it says what is missing, and offers no way back', async () => {
    await using other = await startDashboardRig({
      env: {
        KONG_DATABASE: 'off',
        KONG_AUDIT_LOG: 'off',
        KONG_DECLARATIVE_CONFIG_STRING: JSON.stringify({
          _format_version: '3.0',
          services: [{ name: 'a', host: 'a.test' }],
        }),
      },
    });
    await using session = await other.open('/history');
    const { page } = session;
    await page.getByText('This node has no database.').waitFor();
    await page.getByText('The audit is off').waitFor();
    await page.getByRole('link', { name: /Applied a document: 1 created/ }).click();
    await page.getByRole('heading', { name: /Created service a/ }).waitFor();
    await untilPasses(async () => assert.equal(await page.getByRole('button', { name: /Undo|Roll back/ }).count(), 0));
    await session.check('a version without a database');
  });

  // The last one: from now on everyone signs in.
  test('a reader sees the history, and is not offered a way back', async () => {
    const first = await admin('POST', '/admin-users', { name: 'owner', role: 'admin' });
    const owner = callAdminAs(rig.gateway.adminUrl, String(first.body['token']));
    const patterns: Readonly<Record<string, object>> = { edit: { tag_patterns: ['team-a'] } };
    const offers = { read: [], edit: ['Undo this change'], admin: ['Undo this change', 'Roll back to this'] };
    const [version] = (await owner('GET', '/config/versions?size=1')).body['data'] as readonly { version: number }[];
    for (const [role, offered] of Object.entries(offers)) {
      const user = await owner('POST', '/admin-users', { name: `a-${role}`, role, ...patterns[role] });
      assert.equal(user.status, 201, JSON.stringify(user.body));
      const { status, body } = await owner('POST', `/admin-users/a-${role}/tokens`, { name: 'browser' });
      assert.equal(status, 201, JSON.stringify(body));
      await using session = await rig.open(`/history/${version?.version}`);
      const { page } = session;
      await page.getByLabel('Token').fill(String(body['token']));
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: `Version ${version?.version}` }).waitFor();
      const buttons = page.getByRole('button', { name: /Undo this change|Roll back to this/ });
      await untilPasses(async () => assert.deepEqual(await buttons.allInnerTexts(), offered, role));
      if (role !== 'admin') continue;
      // The token of the session is in no text.
      await page.goto(`${rig.url}/config/services/new`);
      await fillForm(page, { name: 'signed', host: 'signed.test' });
      await page.getByText('As curl, decK or TypeScript').click();
      const text = await codeIn(page, 'curl');
      assert.doesNotMatch(text, /sgadm_/);
      const env = { ...process.env, SLUICEGATE_TOKEN: String(body['token']) };
      await run('sh', ['-c', text], { cwd: folder, env });
      assert.equal((await owner('GET', '/services/signed')).body['host'], 'signed.test');
      page.once('dialog', (dialog) => void dialog.accept());
    }
  });
});
