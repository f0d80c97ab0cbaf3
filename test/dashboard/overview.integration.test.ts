// The overview page: each number against what was sent, where its links lead, all states, both themes, narrow screens, and its memory.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type DashboardPage, type DashboardRig, skipWithoutChromium, startDashboardRig } from '../support/dashboard.ts';
import { until, untilPasses } from '../support/until.ts';
import { type Busy, keepBusy } from './busy-gateway.ts';
import { callAdminAs } from './call-admin-as.ts';
import { feedOverview, liveObjects, setHidden } from './fed-overview.ts';

const skip = skipWithoutChromium();

describe('the overview page', { skip, timeout: 480_000 }, () => {
  let rig: DashboardRig;
  let busy: Busy;
  let desk: DashboardPage;
  let page: Page;
  before(async () => {
    rig = await startDashboardRig();
    busy = await keepBusy(rig.gateway);
    desk = await rig.open('/');
    page = desk.page;
  });
  after(async () => {
    await desk?.[Symbol.asyncDispose]();
    await busy?.[Symbol.asyncDispose]();
    await rig?.[Symbol.asyncDispose]();
  });

  const panel = (name: string, on = page) => on.getByRole('region', { name, exact: true });
  /** The row of a table, as the texts of its cells. */
  const row = (list: string, name: string, on = page) =>
    panel(list, on)
      .getByRole('row')
      .filter({ has: on.getByRole('rowheader', { name, exact: true }) });
  const numbers = async (list: string, name: string): Promise<readonly string[]> =>
    row(list, name).getByRole('cell').allInnerTexts();

  test('shows each number that was sent, by the second and by route, service, consumer and status', async () => {
    const all = Object.values(busy.sent).reduce((sum, count) => sum + count, 0);
    const of = (kind: string): number =>
      Object.entries(busy.sent).reduce((sum, [status, count]) => (status.startsWith(kind) ? sum + count : sum), 0);
    await panel('Requests').getByText(`${all} in the last minute`).waitFor();
    await panel('Errors')
      .getByText(`${of('4')} 4xx and ${of('5')} 5xx in the last minute`)
      .waitFor();
    await panel('Latency')
      .getByText(/last minute: [\d.]+ ms, [\d.]+ m?s, [\d.]+ m?s/)
      .waitFor();
    // The lists are read less often than the seconds arrive.
    await row('Statuses', '200')
      .getByRole('link', { name: String(busy.sent[200]), exact: true })
      .waitFor();
    await untilPasses(async () => {
      for (const [status, count] of Object.entries(busy.sent)) {
        assert.equal((await numbers('Statuses', status))[0], String(count), status);
      }
      const refused = busy.sent[429]! + busy.sent[401]!;
      assert.deepEqual((await numbers('Routes', 'orders')).slice(0, 2), [String(busy.ofAda + 5), String(refused)]);
      assert.deepEqual((await numbers('Routes', 'search')).slice(0, 2), ['32', '2']);
      assert.deepEqual((await numbers('Routes', 'No route')).slice(0, 2), ['3', '3']);
      assert.deepEqual((await numbers('Services', 'orders')).slice(0, 2), [String(all - 3), String(refused + 2)]);
      assert.deepEqual((await numbers('Consumers', 'ada')).slice(0, 2), [String(busy.ofAda), String(busy.sent[429])]);
      assert.deepEqual((await numbers('Limits being hit', 'rate-limiting')).slice(0, 2), [String(busy.sent[429]), '0']);
      assert.deepEqual(await numbers('Limits being hit', 'orders'), ['ada', String(busy.sent[429])]);
      assert.equal((await numbers('Workers', '0'))[0], 'listening');
    });
    await panel('Nodes').getByText('1 of 1 are ready.').waitFor();

    const attention = panel('Needs attention');
    await attention.getByText('ECONNREFUSED').first().waitFor();
    await attention.getByText(/expires in (19|20) days/).waitFor();
    await page.getByRole('button', { name: 'need attention' }).click();

    const limit = panel('Limits being hit').getByRole('link', { name: 'rate-limiting' });
    await untilPasses(async () =>
      assert.equal(await limit.getAttribute('href'), `/config/plugins/${busy.ids['limit']}`),
    );
    const requests = panel('Requests').getByRole('link', { name: String(all), exact: true });
    await untilPasses(async () => assert.equal(await requests.getAttribute('href'), '/traffic'));
    await panel('Routes').getByRole('rowheader').first().getByText('search').waitFor();
    await page.getByRole('radio', { name: 'Errors' }).check();
    await panel('Routes').getByRole('rowheader').first().getByText('orders').waitFor();
  });

  test('every number leads to its requests, every name to its entity', async () => {
    const { ids } = busy;
    const target = `/config/targets/${ids['target']}?parent=upstreams&parentId=${ids['upstream']}`;
    const places: readonly (readonly [string, string, string])[] = [
      ['Routes', 'orders', `/config/routes/${ids['route']}`],
      ['Services', 'orders', `/config/services/${ids['service']}`],
      ['Consumers', 'ada', `/config/consumers/${ids['consumer']}`],
      ['Needs attention', busy.failingTarget, target],
      ['Needs attention', 'soon.test', `/config/certificates/${ids['certificate']}`],
    ];
    await page.goto(`${rig.url}/?range=1h`);
    await row('Routes', 'orders').waitFor();
    for (const [list, name, place] of places) {
      const link = panel(list).getByRole('link', { name, exact: true }).first();
      await untilPasses(async () => assert.equal(await link.getAttribute('href'), place, `${list}: ${name}`));
    }
    const filters = async (list: string, name: string): Promise<readonly Readonly<Record<string, string>>[]> => {
      const links = await row(list, name).getByRole('cell').getByRole('link').all();
      return Promise.all(
        links.map(async (link) => {
          const { pathname, searchParams } = new URL((await link.getAttribute('href')) ?? '', rig.url);
          if (pathname !== '/traffic') return { pathname };
          // The router writes numbers as JSON texts.
          return Object.fromEntries([...searchParams].map(([key, value]) => [key, value.replaceAll('"', '')]));
        }),
      );
    };
    const limited = { route: ids['route'], consumer: ids['consumer'], status: '429' };
    await untilPasses(async () => {
      const [requests, errors, slow] = await filters('Routes', 'orders');
      assert.deepEqual(requests, { route: ids['route'] });
      assert.deepEqual(errors, { route: ids['route'], status: '4xx,5xx' });
      assert.equal(slow?.['route'], ids['route']);
      assert.match(slow?.['min_duration'] ?? '', /^\d+$/);
      assert.deepEqual((await filters('Routes', 'No route'))[0], { route: '' });
      assert.deepEqual((await filters('Consumers', 'ada'))[0], { consumer: ids['consumer'] });
      assert.deepEqual(await filters('Statuses', '429'), [{ status: '429' }]);
      assert.deepEqual((await filters('Limits being hit', 'orders'))[1], limited);
    });

    await page.getByRole('link', { name: `${busy.sent[500]} answers with 5xx` }).click();
    await page.waitForURL('**/traffic?status=5xx');
    await page.goBack();
    await panel('Needs attention').getByRole('link', { name: busy.failingTarget }).click();
    await page.getByRole('heading', { level: 1, name: busy.failingTarget }).waitFor();
    await page.goBack();
    await panel('Routes').getByRole('link', { name: 'orders', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'orders' }).waitFor();
    await page.goBack();
  });

  test('the first are by requests, errors or latency, and ranges are those of analytics', async () => {
    const all = Object.values(busy.sent).reduce((sum, count) => sum + count, 0);
    const first = () => panel('Routes').getByRole('rowheader').first();
    for (const range of ['1 hour', '24 hours', '30 days']) {
      await page.getByRole('radio', { name: range }).check();
      await page.getByRole('radio', { name: 'Requests' }).check();
      await first().getByText('search').waitFor();
      await page.getByRole('radio', { name: 'Errors' }).check();
      await first().getByText('orders').waitFor();
      await page.getByRole('link', { name: `${all} requests`, exact: true }).waitFor();
      await panel('Statuses')
        .getByRole('link', { name: String(busy.sent[429]), exact: true })
        .waitFor();
    }
    await untilPasses(() => assert.equal(new URL(page.url()).search, '?range=30d&sort=errors'));
    await page.reload();
    await untilPasses(async () =>
      assert.ok(await page.getByRole('radio', { name: 'Errors' }).isChecked(), 'the choice is in the address'),
    );
    await page.getByRole('radio', { name: 'Errors' }).press('ArrowLeft');
    await first().getByText('search').waitFor();
    await page.getByRole('radio', { name: 'Live' }).check();
  });

  test('each plot has a description and a table', async () => {
    await page.getByRole('img', { name: /^Plot of requests from .* Requests: at most [\d.]+\.$/ }).waitFor();
    await page.getByRole('img', { name: /^Plot of latency from .* p50: at most .* p99: at most/ }).waitFor();
    await page.getByText('Values of requests as a table').click();
    // The requests of the first test may have left the minute that is shown.
    const recent = 20;
    for (let sent = 0; sent < recent; sent++) await busy.ask('/search');
    const all = Object.values(busy.sent).reduce((total, count) => total + count, recent);
    await untilPasses(async () => {
      const cells = await page.getByRole('region', { name: 'Requests, values' }).getByRole('cell').allInnerTexts();
      const sum = cells.reduce((total, text) => total + Number(text.replaceAll(',', '')), 0);
      assert.ok(
        sum > recent * 0.75 && sum < all * 1.25,
        `${sum} requests in the table, ${recent} of ${all} were sent just now`,
      );
    });
    await desk.check('a table of values');
  });

  test('a new request arrives within seconds, and a page that is hidden reads nothing', async () => {
    const note = panel('Requests').getByText('in the last minute');
    const before = await note.innerText();
    await busy.ask('/search');
    await until(async () => (await note.innerText()) !== before, 10_000);
    const readers = async (): Promise<number> =>
      page.evaluate<number>(
        'performance.getEntriesByType("resource").filter((one) => one.name.includes("/overview/live")).length',
      );
    const ended = await readers();
    const stopped = page.waitForEvent('requestfailed', (request) => request.url().includes('/overview/live'));
    await setHidden(page, true);
    await stopped;
    await setHidden(page, false);
    await page.getByText('Live', { exact: true }).first().waitFor();
    await untilPasses(async () => assert.ok((await readers()) > ended, 'the stream that was open has ended'));
  });

  test('works in both themes and at 360 pixels', async () => {
    await using other = await rig.open('/');
    await other.page.locator('.ov-canvas canvas').nth(2).waitFor();
    await panel('Nodes', other.page).getByText('are ready').waitFor();
    await panel('Statuses', other.page).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await other.page.emulateMedia({ colorScheme });
      for (const width of [1280, 360]) {
        await other.page.setViewportSize({ width, height: 800 });
        await other.check(`the overview, ${colorScheme}, ${width} px`);
        await until(
          async () => (await other.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')) <= 0,
          5_000,
        );
      }
    }
  });

  test('is at most 350 KB with its plots, which are loaded when they are shown', async () => {
    await using other = await rig.open('/config/services');
    await other.page.getByRole('link', { name: /orders/ }).waitFor();
    const loaded = async (): Promise<readonly { readonly name: string; readonly size: number }[]> =>
      other.page.evaluate(
        'performance.getEntriesByType("resource").filter(({ name }) => name.includes("/assets/")).map(({ name, encodedBodySize }) => ({ name, size: encodedBodySize }))',
      );
    assert.ok(!(await loaded()).some(({ name }) => name.includes('/plot-')));
    await other.page.getByRole('link', { name: 'Overview' }).click();
    await other.page.locator('.ov-canvas canvas').first().waitFor();
    const files = await loaded();
    assert.ok(files.some(({ name }) => name.includes('/plot-')));
    const total = files.reduce((sum, { size }) => sum + size, 0);
    assert.ok(total > 10_000 && total < 350_000, `${total} bytes`);
  });

  test('the memory of an open page does not grow with the seconds', async () => {
    await using other = await rig.open('/config/services');
    const feed = await feedOverview(other.page);
    await other.page.goto(`${rig.url}/`);
    await other.page.locator('.ov-canvas canvas').nth(2).waitFor();
    await feed.pass(40);
    const before = await feed.renderings();
    const looks = [await liveObjects(other)];
    const growths = (): readonly number[] =>
      looks.slice(1).map(({ objects, elements }, at) => {
        const earlier = looks[at]!;
        return Math.max(objects - earlier.objects, elements - earlier.elements);
      });
    // What is on its way adds to one look or another; what is never let go adds to each.
    while (growths().every((growth) => growth >= 300)) {
      assert.ok(looks.length <= 4, `every 400 seconds of traffic: ${JSON.stringify(looks)}`);
      await feed.pass(40);
      looks.push(await liveObjects(other));
    }
    await untilPasses(async () => assert.equal(await other.page.locator('.ov-canvas canvas').count(), 3));
    // One a second, and one for each answer to the other request of the page.
    const seconds = 40 * (looks.length - 1);
    const shown = (await feed.renderings()) - before;
    assert.ok(shown >= seconds / 2 && shown <= seconds * 1.5, `${shown} renderings in ${seconds} s`);
  });

  test('nothing needs attention on a calm gateway; without analytics the live numbers remain', async () => {
    await using calm = await startDashboardRig({ env: { SLUICEGATE_ANALYTICS: 'off' } });
    await calm.gateway.admin('PUT', '/services/calm', { url: 'http://calm.test' });
    await using other = await calm.open('/');
    await panel('Nothing needs attention', other.page).getByText('All targets get requests').waitFor();
    await other.page.getByText('Routes, services and consumers are not counted').waitFor();
    await other.check('a calm overview');
    await fetch(`${calm.gateway.proxyUrl}/nowhere`);
    await panel('Requests', other.page).getByText('1 in the last minute').waitFor();
    await other.page.getByRole('radio', { name: '24 hours' }).check();
    await other.page.getByRole('heading', { name: 'The past is not counted' }).waitFor();
    await other.check('a range without analytics');
  });

  test('a reader sees everything', async () => {
    const created = await rig.gateway.admin('POST', '/admin-users', { name: 'root', role: 'admin' });
    const admin = callAdminAs(rig.gateway.adminUrl, String(created.body['token']));
    assert.equal((await admin('POST', '/admin-users', { name: 'reader', role: 'read' })).status, 201);
    const issued = await admin('POST', '/admin-users/reader/tokens', { name: 'browser' });
    await using other = await rig.open('/');
    await other.page.getByLabel('Token').fill(String(issued.body['token']));
    await other.page.getByRole('button', { name: 'Sign in' }).click();
    await panel('Routes', other.page).waitFor();
    await panel('Needs attention', other.page).getByRole('link', { name: 'soon.test' }).waitFor();
    await other.page.getByRole('radio', { name: '1 hour' }).check();
    await row('Statuses', '429', other.page).waitFor();
    await other.check('the overview of a reader');
  });
});
