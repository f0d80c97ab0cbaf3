import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { root } from '../../scripts/lib/files.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from './gateway.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A gateway with its dashboard, and a browser. */
export interface DashboardRig extends AsyncDisposable {
  readonly gateway: TestGateway;
  /** Without a trailing slash. */
  readonly url: string;
  /** A page in a browser profile of its own, of a desktop unless the options say otherwise. */
  open(path: string, options?: BrowserContextOptions): Promise<DashboardPage>;
}

export interface DashboardPage extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Loads another page. A link, which changes the page in place, may leave a test with the old page for a moment. */
  go(path: string): Promise<void>;
  /** Fails when axe finds a violation of WCAG 2.2 AA or of its best practices, or when the page has logged an error. */
  check(name: string): Promise<void>;
}

/** For the `skip` option of tests, as `skipWithoutRedis`. */
export function skipWithoutChromium(): string | false {
  if (chromiumPath() !== null) return false;
  const reason = 'needs Chromium: apt-get install chromium-headless-shell';
  if (process.env['CI'] === 'true') throw new Error(reason);
  return reason;
}

function chromiumPath(): string | null {
  const candidates = [
    process.env['CHROMIUM'],
    // The same engine without the rest of a browser: two thirds of the time of the processors.
    '/usr/lib/chromium/chromium-headless-shell',
    // Debian's script in /usr/bin adds extensions and an emulated GPU.
    '/usr/lib/chromium/chromium',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ];
  return candidates.find((path) => path !== undefined && existsSync(path)) ?? null;
}

/** Builds the dashboard if its sources have changed. */
export async function startDashboardRig(options: TestGatewayOptions = {}): Promise<DashboardRig> {
  await build();
  // The real settings, which the page reads too.
  const env = { KONG_ADMIN_GUI_LISTEN: '127.0.0.1:0', ...options.env };
  const gateway = await startTestGateway({ ...options, env });
  const browser = await launch();
  const [address] = gateway.gateway.addresses.dashboard;
  const url = `http://127.0.0.1:${address?.port}`;
  return {
    gateway,
    url,
    open: (path, settings = {}) => openPage(browser, `${url}${path}`, settings),
    async [Symbol.asyncDispose]() {
      await browser.close();
      await gateway.stop();
    },
  };
}

let built: Promise<unknown> | null = null;

/** Once for all rigs of a file. */
function build(): Promise<unknown> {
  built ??= promisify(execFile)(process.execPath, [join(root, 'dashboard/build.ts'), '--if-changed'], {
    timeout: 120_000,
  });
  return built;
}

function launch(): Promise<Browser> {
  // In a container without user namespaces Chromium has no sandbox.
  return chromium.launch({ executablePath: chromiumPath() ?? '', args: ['--no-sandbox'] });
}

/**
 * `SLOW_PAGES=300`: every answer reaches the page up to so many milliseconds late, in another order each time, and its scripts take five
 * times as long, so that a test that reads a page too early fails on every machine.
 */
async function slowDown(page: Page): Promise<void> {
  const most = Number(process.env['SLOW_PAGES'] ?? 0);
  if (most === 0) return;
  await page.route(/^http/, async (route) => {
    await wait(Math.random() * most);
    await route.continue();
  });
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 5 });
}

async function openPage(browser: Browser, url: string, options: BrowserContextOptions): Promise<DashboardPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-GB', ...options });
  // As `until`: for a busy machine.
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  await slowDown(page);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    // The browser logs each answer with an error status, which tests provoke.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      errors.push(message.text());
  });
  await page.goto(url);
  return {
    page,
    context,
    async go(path) {
      await page.goto(new URL(path, url).href);
    },
    async check(name) {
      if (!(await page.evaluate<boolean>('typeof axe === "object"'))) await page.evaluate(axeSource);
      const found = await page.evaluate<
        readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
      >(
        '(async () => { const results = await axe.run(document, { resultTypes: ["violations"] }); return results.violations; })()',
      );
      const shown = found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
      assert.deepEqual(shown, [], `axe on ${name}`);
      assert.deepEqual(errors, [], `errors on ${name}`);
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}
