// How the main pages look, in both themes: compared with the pictures in docs/dashboard. UPDATE_PICTURES=1 takes them again.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { root } from '../../scripts/lib/files.ts';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { type DashboardRig, skipWithoutChromium, startDashboardRig } from '../support/dashboard.ts';
import { untilPasses } from '../support/until.ts';

const skip = skipWithoutChromium();
const folder = join(root, 'docs/dashboard');
const update = process.env['UPDATE_PICTURES'] === '1';
/**
 * Mean difference of the colours of 40 x 25 fields, of 255. Times and plots differ by less than 1; another page differs by 5 or more, the
 * other theme by more than 200.
 */
const maxDifference = 4;

describe('the main pages', { skip }, () => {
  let rig: DashboardRig;
  let backend: TestBackend;
  before(async () => {
    // All of the requests have a timeline.
    rig = await startDashboardRig({ env: { SLUICEGATE_TRAFFIC_RECORDER_RATE: '5000' } });
    backend = await startBackend();
    const admin = async (method: string, path: string, body?: unknown): Promise<void> => {
      const answer = await rig.gateway.admin(method, path, body);
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.status}`);
    };
    await admin('POST', '/upstreams', { name: 'orders.pool' });
    await admin('POST', '/upstreams/orders.pool/targets', { target: new URL(backend.url).host });
    await admin('POST', '/services', { name: 'orders', host: 'orders.pool' });
    await admin('POST', '/services/orders/routes', { name: 'orders', paths: ['/orders'] });
    await admin('POST', '/services/orders/routes', { name: 'catalog', paths: ['/catalog'] });
    await admin('POST', '/routes/orders/plugins', { name: 'key-auth' });
    await admin('POST', '/services/orders/plugins', { name: 'rate-limiting', config: { minute: 1000 } });
    await admin('POST', '/consumers', { username: 'ada' });
    await admin('POST', '/consumers/ada/key-auth', { key: 'adas-key' });
    await admin('GET', '/traffic');
    for (let sent = 0; sent < 60; sent++) {
      const path = ['/catalog/7', '/orders/42', '/orders', '/missing'][sent % 4] ?? '';
      const headers: Record<string, string> = sent % 4 === 1 ? { apikey: 'adas-key' } : {};
      await (await fetch(`${rig.gateway.proxyUrl}${path}`, { headers })).arrayBuffer();
    }
  });
  after(async () => {
    await rig?.[Symbol.asyncDispose]();
    await backend?.[Symbol.asyncDispose]();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`in the ${colorScheme} theme`, async () => {
      await using desk = await rig.open('/', { colorScheme, timezoneId: 'UTC' });
      const { page } = desk;
      const look = async (name: string): Promise<void> => {
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        assert.ok(wide <= 0, `${name} is ${wide} pixels too wide`);
        const file = join(folder, `${name}-${colorScheme}.jpg`);
        if (update) {
          mkdirSync(folder, { recursive: true });
          writeFileSync(file, await picture(page));
        }
        const kept = readFileSync(file);
        await untilPasses(async () => {
          const difference = await differenceOf(page, kept, await picture(page));
          assert.ok(
            difference <= maxDifference,
            `${name} differs from its picture by ${difference.toFixed(1)}: look at it, then take it again with UPDATE_PICTURES=1`,
          );
        }, 15_000);
      };
      await page.getByRole('heading', { name: 'Nothing needs attention' }).waitFor();
      await page.locator('canvas').first().waitFor();
      await look('overview');
      await page.getByRole('link', { name: 'Traffic', exact: true }).click();
      const refused = page.getByRole('main').getByRole('link', { name: /\b401\b.*No API key/ });
      await refused.first().waitFor();
      await look('traffic');
      await refused.first().click();
      await page.getByRole('heading', { name: 'Timeline' }).waitFor();
      await look('request');
      await page.getByRole('link', { name: 'History', exact: true }).click();
      await page.getByText(/Created plugin rate-limiting/).waitFor();
      await look('history');
      await page.goto(`${rig.url}/playground?method=GET&url=/orders/42`);
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('heading', { name: 'Answer 401' }).waitFor();
      await look('playground');
      await page.getByRole('link', { name: 'Routes', exact: true }).click();
      await page
        .getByRole('main')
        .getByRole('link', { name: /^orders/ })
        .click();
      const way = page.getByRole('heading', { name: 'The way of a request' });
      await way.scrollIntoViewIfNeeded();
      await page.getByRole('heading', { name: 'Plugins that run' }).scrollIntoViewIfNeeded();
      await look('route');
      await page.getByRole('link', { name: 'Plugin catalog', exact: true }).click();
      await page
        .getByRole('link', { name: /^key-auth/ })
        .first()
        .waitFor();
      await look('catalog');
      await page.goto(`${rig.url}/config/plugins/new?name=ip-restriction&parent=services`);
      await page.getByRole('textbox', { name: 'allow' }).fill('10.0.0.0/8');
      await page
        .getByText(/refuse \d+ of/)
        .first()
        .waitFor();
      await look('change');
    });
  }
});

function picture(page: Page): Promise<Buffer> {
  return page.screenshot({ type: 'jpeg', quality: 72 });
}

/** Decoded by the browser, on a page of its own. */
async function differenceOf(page: Page, kept: Buffer, taken: Buffer): Promise<number> {
  const blank = await page.context().newPage();
  try {
    const pictures = JSON.stringify([kept.toString('base64'), taken.toString('base64')]);
    return await blank.evaluate<number>(`(${comparison})(${pictures})`);
  } finally {
    await blank.close();
  }
}

/** Runs in the browser. */
const comparison = `async (pictures) => {
  const fields = await Promise.all(pictures.map(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/jpeg' }));
    const context = new OffscreenCanvas(40, 25).getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, 40, 25);
    return context.getImageData(0, 0, 40, 25).data;
  }));
  const [kept, taken] = fields;
  let sum = 0;
  for (let at = 0; at < kept.length; at += 4) {
    for (let colour = 0; colour < 3; colour++) sum += Math.abs(kept[at + colour] - taken[at + colour]);
  }
  return sum / (kept.length / 4) / 3;
}`;
