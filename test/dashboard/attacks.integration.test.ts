// What other pages, names and stored texts can do to the dashboard in a real browser: nothing.
import assert from 'node:assert/strict';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { BrowserContext, Page, Request } from 'playwright-core';
import { type DashboardRig, skipWithoutChromium, startDashboardRig } from '../support/dashboard.ts';

const skip = skipWithoutChromium();
const html = { 'content-type': 'text/html' };

/** A consumer whose fields are what an attacker wants to be executed. */
const hostile = { username: '<img src=x onerror="window.hit=1">', custom_id: '"><script>window.hit=1</script>' };

describe('attacks on the dashboard', { skip }, () => {
  let rig: DashboardRig;
  let evil: Server;
  let evilUrl = '';
  let token = '';

  before(async () => {
    rig = await startDashboardRig();
    evil = createServer((_request, response) =>
      response.writeHead(200, html).end('<!doctype html><title>evil</title>'),
    );
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
    evilUrl = `http://127.0.0.1:${(evil.address() as AddressInfo).port}`;
    assert.equal((await rig.gateway.admin('POST', '/consumers', hostile)).status, 201);
    const page = { status_code: 200, content_type: 'text/html', body: '<!doctype html><title>a backend</title>' };
    await rig.gateway.admin('POST', '/routes', { name: 'backend', paths: ['/'] });
    await rig.gateway.admin('POST', '/routes/backend/plugins', { name: 'request-termination', config: page });
  });
  after(async () => {
    evil?.close();
    await rig?.[Symbol.asyncDispose]();
  });

  /** What a script in the page gets from a request: its status, or why it gets nothing. */
  function attempt(page: Page, path: string, options: object): Promise<string> {
    const call = `fetch(${JSON.stringify(rig.url + path)}, ${JSON.stringify(options)})`;
    return page.evaluate<string>(`${call}.then((answer) => answer.type + ' ' + answer.status, (error) => error.name)`);
  }

  test('a page of another origin reads nothing and changes nothing, also without a sign-in', async () => {
    await using desk = await rig.open('/config/consumers');
    const { page } = desk;
    await page.goto(evilUrl);
    assert.equal(await attempt(page, '/api/consumers', {}), 'TypeError', 'it cannot read');
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"username":"mallory"}' };
    assert.equal(await attempt(page, '/api/consumers', json), 'TypeError', 'it cannot send JSON');
    const form = {
      method: 'POST',
      mode: 'no-cors',
      body: 'username=mallory',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    };
    await attempt(page, '/api/consumers', form);
    await page.setContent(
      `<form method="post" action="${rig.url}/api/consumers"><input name="username" value="mallory"></form>`,
    );
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/api/consumers')),
      page.evaluate('document.forms[0].submit()'),
    ]);
    assert.equal(answer.status(), 403);
    assert.equal((await rig.gateway.admin('GET', '/consumers/mallory')).status, 404);
  });

  test('no page can show it in a frame, nor reach its window', async () => {
    await using desk = await rig.open('/config/consumers');
    const { page } = desk;
    await page.goto(evilUrl);
    for (const path of ['/', '/config/consumers', '/api/consumers']) {
      await page.setContent(`<iframe src="${rig.url}${path}"></iframe>`);
      const frame = await (await page.waitForSelector('iframe')).contentFrame();
      await frame?.waitForLoadState();
      assert.ok(!(frame?.url() ?? '').startsWith(rig.url), `${path} is not shown`);
    }
    const [opened] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate(`void (window.w = window.open(${JSON.stringify(rig.url)}))`),
    ]);
    await opened.getByRole('heading', { level: 1 }).first().waitFor();
    assert.equal(await page.evaluate<boolean>('window.w.closed'), true, 'another browsing context group');
    assert.equal(await opened.evaluate<boolean>('window.opener === null'), true);
  });

  test('stored texts are texts, wherever they are shown', async () => {
    await using desk = await rig.open('/config/consumers');
    const { page } = desk;
    await page.getByRole('link', { name: /onerror/ }).click();
    await page.getByRole('heading', { level: 1, name: /onerror/ }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search everything' }).fill('onerror');
    await page.getByRole('option', { name: /onerror/ }).waitFor();
    const { body } = await rig.gateway.admin('GET', '/consumers');
    const [{ id } = { id: '' }] = body['data'] as readonly { readonly id: string }[];
    await page.goto(`${rig.url}/api/consumers/${id}`);
    assert.equal(await page.evaluate('window.hit'), undefined);
    // Not even a script that got into the page could make HTML of a text, or load code from elsewhere.
    await page.goto(`${rig.url}/config/consumers`);
    const refused = (script: string) =>
      page.evaluate<string>(`(() => { try { ${script}; return 'done'; } catch (error) { return error.name; } })()`);
    assert.equal(await refused("document.body.innerHTML = '<b>x</b>'"), 'TypeError');
    assert.equal(await refused("const s = document.createElement('script'); s.src = 'data:,1'"), 'TypeError');
    const leak = await page.evaluate<string>(
      `fetch(${JSON.stringify(evilUrl)}).then(() => 'sent', (error) => error.name)`,
    );
    assert.equal(leak, 'TypeError', 'the policy permits requests to its own origin only');
  });

  test('a name that its owner lets resolve to the gateway gets nothing', async () => {
    const port = Number(new URL(rig.url).port);
    assert.equal(await statusFor(port, 'rebound.example'), 403);
    assert.equal(await statusFor(port, 'localhost'), 200);
  });

  describe('with a sign-in', () => {
    before(async () => {
      const created = await rig.gateway.admin('POST', '/admin-users', { name: 'ada', role: 'admin' });
      token = String(created.body['token']);
    });

    async function signIn(page: Page): Promise<void> {
      await page.getByLabel('Token').fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Sign in to Sluicegate' }).waitFor({ state: 'detached' });
    }

    test('the token is in no address and no Referer, and goes to the gateway only', async () => {
      await using desk = await rig.open('/plugins/openid-connect');
      const { page, context } = desk;
      const requests: Request[] = [];
      context.on('request', (sent) => requests.push(sent));
      await signIn(page);
      await page.getByRole('heading', { level: 1, name: 'openid-connect' }).waitFor();
      await page.getByRole('link', { name: 'Consumers' }).click();
      await page.getByRole('link', { name: /onerror/ }).waitFor();
      // A page of another origin that is opened from here.
      await page.evaluate(`location.assign(${JSON.stringify(evilUrl)})`);
      await page.waitForURL(`${evilUrl}/`);
      assert.equal(await page.evaluate('document.referrer'), '');
      for (const sent of requests) {
        const headers = await sent.allHeaders();
        assert.ok(!sent.url().includes(token), sent.url());
        // Chromium shows an empty one for a request that was aborted before it was sent.
        assert.equal(headers['referer'] ?? '', '', sent.url());
        if (!sent.url().startsWith(`${rig.url}/api/`)) assert.ok(!JSON.stringify(headers).includes(token), sent.url());
      }
      assert.ok(requests.some((sent) => sent.url().startsWith(evilUrl)));
    });

    test('what the proxy serves on the same host sees nothing of the session', async () => {
      await using desk = await rig.open('/config/consumers');
      await signIn(desk.page);
      const leaked = await seenBy(desk.context, rig.gateway.proxyUrl);
      assert.deepEqual(leaked, { storage: '{}', cookies: '', heard: [] });
    });

    test('no address leads elsewhere after the sign-in', async () => {
      const { host } = new URL(evilUrl);
      for (const path of [
        `//${host}/`,
        `/\\${host}/`,
        `/config/services?redirect=${evilUrl}`,
        `/%2F%2F${host}/`,
        `/config//${host}`,
      ]) {
        await using desk = await rig.open('/favicon.svg');
        const { page } = desk;
        await page.goto(`${rig.url}${path}`);
        await signIn(page);
        await page.getByRole('navigation', { name: 'Pages' }).waitFor();
        assert.equal(new URL(page.url()).origin, rig.url, path);
      }
    });
  });
});

/** As a browser asks after the name has changed its address: with that name as `Host`. */
function statusFor(port: number, name: string): Promise<number> {
  const options = { host: '127.0.0.1', port, path: '/api/consumers', headers: { host: `${name}:${port}` } };
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject).end();
  });
}

/** What a page of that origin finds out in the same browser, by asking as a new tab of the dashboard does. */
async function seenBy(context: BrowserContext, url: string): Promise<unknown> {
  const page = await context.newPage();
  await page.goto(url);
  return await page.evaluate(`(async () => {
    const heard = [];
    const channel = new BroadcastChannel('sluicegate.session');
    channel.onmessage = ({ data }) => heard.push(data);
    channel.postMessage({ kind: 'ask' });
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { storage: JSON.stringify({ ...sessionStorage, ...localStorage }), cookies: document.cookie, heard };
  })()`);
}
