// The traffic pages: the live tail with its filters, and one request opened.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { type DashboardRig, skipWithoutChromium, startDashboardRig } from '../support/dashboard.ts';
import { openClient } from '../support/raw-client.ts';
import { until, untilPasses } from '../support/until.ts';
import { callAdminAs } from './call-admin-as.ts';

const skip = skipWithoutChromium();

let rig: DashboardRig;
let backend: TestBackend;

/** Where the gateway is, and where nothing of the example's traffic reaches it from. */
const local = '127.0.0.1';

async function write(method: string, path: string, body: unknown): Promise<string> {
  const answer = await rig.gateway.admin(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
  return String(answer.body['id']);
}

async function send(path: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(`${rig.gateway.proxyUrl}${path}`, init);
  await response.arrayBuffer();
  return response.headers.get('x-kong-request-id') ?? '';
}

/** Sends a request that is recorded, and returns its id. */
async function recorded(path: string, init: RequestInit = {}): Promise<string> {
  const id = await send(path, init);
  await until(async () => (await rig.gateway.admin('GET', `/traffic/${id}`)).status === 200);
  return id;
}

const withKey = { headers: { apikey: 'key-of-ada' } };

function rows(page: Page) {
  return page.locator('.traffic-table .table-row');
}

async function shownPaths(page: Page): Promise<readonly string[]> {
  return (await page.locator('.traffic-table .request .truncate').allInnerTexts()).map((text) => text.trim());
}

async function untilShown(page: Page, paths: readonly string[]): Promise<void> {
  let shown: readonly string[] = [];
  await until(async () => {
    shown = await shownPaths(page);
    return shown.join() === paths.join();
  }, 10_000).catch(() => assert.deepEqual(shown, paths));
}

describe('the traffic pages', { skip }, () => {
  before(async () => {
    backend = await startBackend();
    rig = await startDashboardRig({ env: { KONG_TRUSTED_IPS: local } });
    await write('PUT', '/services/users', { url: backend.url });
    await write('PUT', '/services/users/routes/users', { paths: ['/users'], methods: ['GET'], strip_path: false });
    await write('PUT', '/services/users/routes/open', { paths: ['/open'], strip_path: false });
    await write('POST', '/routes/users/plugins', { name: 'key-auth' });
    await write('PUT', '/services/limited', { url: backend.url });
    await write('PUT', '/services/limited/routes/limited', { paths: ['/limited'] });
    const limit = { name: 'rate-limiting', config: { hour: 1, policy: 'local' } };
    await write('POST', '/routes/limited/plugins', limit);
    await write('PUT', '/upstreams/pool', { healthchecks: { passive: { unhealthy: { tcp_failures: 1 } } } });
    await write('POST', '/upstreams/pool/targets', { target: `${local}:1` });
    await write('PUT', '/services/pooled', { host: 'pool', retries: 0 });
    await write('PUT', '/services/pooled/routes/pooled', { paths: ['/pooled'] });
    await write('PUT', '/consumers/ada', {});
    await write('POST', '/consumers/ada/key-auth', { key: 'key-of-ada' });
  });
  after(async () => {
    await rig?.[Symbol.asyncDispose]();
    await backend?.close();
  });

  it('says that nothing has arrived, and shows each request as it ends', async () => {
    await using desk = await rig.open('/traffic');
    const { page } = desk;
    await page.getByRole('heading', { name: 'No requests yet' }).waitFor();
    const command = await page.locator('pre').innerText();
    assert.equal(command, `curl -i ${rig.gateway.proxyUrl}/`);
    await desk.check('the page without requests');
    await promisify(execFile)('sh', ['-c', command], { timeout: 10_000 });
    await untilShown(page, ['/']);
    await send('/open/second');
    await untilShown(page, ['/open/second', '/']);
    const newest = rows(page).first();
    for (const text of ['200', 'GET', 'open', `backend ${local}:${backend.port}`]) {
      await newest.getByText(text, { exact: true }).waitFor();
    }
    // Another reader begins with what is there.
    await page.reload();
    await untilShown(page, ['/open/second', '/']);
  });

  it('filters, in the address of the page', async () => {
    await rig.gateway.admin('DELETE', '/traffic');
    await using desk = await rig.open('/traffic');
    const { page } = desk;
    await page.getByRole('heading', { name: 'No requests yet' }).waitFor();
    await send('/users/1', withKey);
    await send('/users/2');
    await send('/users/3', { method: 'POST' });
    await send('/open/4', { headers: { 'X-Real-IP': '10.1.2.3' } });
    await send('/pooled/5');
    const all = ['/pooled/5', '/open/4', '/users/3', '/users/2', '/users/1'];
    await untilShown(page, all);
    const filters: readonly (readonly [label: string, value: string, search: string, paths: readonly string[]])[] = [
      ['Status', '401,5xx', 'status=401%2C5xx', ['/pooled/5', '/users/2']],
      ['Method', 'POST', 'method=POST', ['/users/3']],
      ['Path', '/users', 'path=%2Fusers', ['/users/3', '/users/2', '/users/1']],
      ['Route', 'users', 'route=users', ['/users/2', '/users/1']],
      ['Route', '(none)', 'route=', ['/users/3']],
      ['Service', 'pooled', 'service=pooled', ['/pooled/5']],
      ['Consumer', 'ada', 'consumer=ada', ['/users/1']],
      ['Client address', '10.0.0.0/8', 'client=10.0.0.0%2F8', ['/open/4']],
    ];
    for (const [label, value, search, paths] of filters) {
      await page.getByLabel(label, { exact: true }).fill(value);
      await page.keyboard.press('Enter');
      await untilShown(page, paths);
      await untilPasses(() => assert.equal(new URL(page.url()).search, `?${search}`));
      await page.getByRole('button', { name: 'Clear filters' }).first().click();
      await untilShown(page, all);
    }
    await page.getByRole('button', { name: '4xx' }).click();
    await page.getByRole('button', { name: '5xx' }).click();
    await untilShown(page, ['/pooled/5', '/users/3', '/users/2']);
    await send('/open/6');
    await send('/users/7');
    await untilShown(page, ['/users/7', '/pooled/5', '/users/3', '/users/2']);

    await page.goto(`${rig.url}/traffic?min_duration=60000`);
    await page.getByRole('heading', { name: 'Nothing matches the filters yet' }).waitFor();
    await desk.check('nothing matches');
    await page.getByLabel('Status').fill('abc');
    await page.keyboard.press('Tab');
    await page.getByText("'abc' is neither a status nor a class such as 5xx").waitFor();
    await desk.check('a filter that is not valid');
  });

  it('pauses with the space key, and continues with what arrived', async () => {
    await rig.gateway.admin('DELETE', '/traffic');
    await using desk = await rig.open('/traffic?path=/open');
    const { page } = desk;
    await page.getByRole('heading', { name: 'Nothing matches' }).waitFor();
    await send('/open/before');
    await untilShown(page, ['/open/before']);
    await page.locator('h1').click();
    await page.keyboard.press('Space');
    await page.getByText('Paused').waitFor();
    for (const name of ['one', 'two', 'three']) await send(`/open/${name}`);
    await page.getByRole('button', { name: 'Show 3 new' }).waitFor();
    assert.deepEqual(await shownPaths(page), ['/open/before']);
    await desk.check('a paused tail');
    await page.locator('h1').click();
    await page.keyboard.press('Space');
    const all = ['/open/three', '/open/two', '/open/one', '/open/before'];
    await untilShown(page, all);
    // A line under the pointer stays there, and so does one with the focus.
    await rows(page).first().hover();
    await page.getByText('Held').waitFor();
    await send('/open/four');
    await page.getByRole('button', { name: 'Show 1 new' }).waitFor();
    assert.deepEqual(await shownPaths(page), all);
    await page.locator('h1').hover();
    await untilShown(page, ['/open/four', ...all]);
  });

  it('says which part of the requests it shows, keeps few rows in the document, and opens a record without a timeline', async () => {
    await using desk = await rig.open('/traffic');
    const { page } = desk;
    await rows(page).first().waitFor();
    // More than the rate, and its burst, of the default settings.
    const sampling = page.getByText(/^(?:Live )?Showing [\d,]+ of [\d,]+ requests per second$/);
    await until(async () => {
      await Promise.all(Array.from({ length: 300 }, () => send('/users/many')));
      return await sampling.isVisible();
    }, 20_000);
    await untilPasses(async () => assert.ok((await rows(page).count()) < 80));
    const { body } = await rig.gateway.admin('GET', '/traffic?size=1000&status=401');
    const late = (body['data'] as readonly { readonly id: string; readonly traced: boolean }[]).find(
      ({ traced }) => !traced,
    );
    await page.goto(`${rig.url}/traffic/${late?.id}`);
    await page.getByText('This request has no timeline').waitFor();
    await untilPasses(async () => assert.equal(await page.getByRole('heading', { name: 'Timeline' }).count(), 0));
    await desk.check('a record without a timeline');
  });

  it('an opened 401 says why, with a link to the plugin that caused it', async () => {
    const before = await recorded('/users/42', withKey);
    const id = await recorded('/users/42?page=2');
    const after = await recorded('/open/1');
    await using desk = await rig.open('/traffic?path=/users/42');
    const { page } = desk;
    await page.getByRole('link', { name: /401/ }).first().click();
    await page.waitForURL(`**/traffic/${id}`);
    await page.getByRole('heading', { name: 'Why 401?' }).waitFor();
    await page.getByText('The plugin key-auth answered 401: No API key found in request.').waitFor();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page.getByRole('row', { name: /plugin key-auth access/ }).waitFor();
    await page.getByRole('row', { name: /key-auth.*access answered 401/ }).waitFor();
    await untilPasses(async () =>
      assert.equal(await page.getByRole('link', { name: 'Replay' }).getAttribute('href'), `/playground?request=${id}`),
    );
    // The neighbours are those of the list, with its filter.
    await page.getByRole('link', { name: 'Older →' }).click();
    await page.waitForURL(`**/traffic/${before}`);
    await page.getByText('consumer ada').waitFor();
    await page.getByRole('link', { name: '← Newer' }).click();
    await page.waitForURL(`**/traffic/${id}`);
    await untilPasses(async () => assert.equal(await page.getByRole('link', { name: '← Newer' }).count(), 0));
    await page.getByRole('link', { name: 'All requests' }).click();
    await page.waitForURL('**/traffic?path=%2Fusers%2F42');
    await page.goto(`${rig.url}/traffic/${id}`);
    await page.getByRole('link', { name: '← Newer' }).click();
    await page.waitForURL(`**/traffic/${after}`);
    await page.goBack();
    await page.locator('.why').getByRole('link', { name: 'key-auth' }).click();
    await page.getByRole('heading', { level: 1, name: 'key-auth' }).waitFor();
    await untilPasses(() => assert.match(new URL(page.url()).pathname, /^\/config\/plugins\/[0-9a-f-]{36}$/));
  });

  it('says why 404, 429 and 503, with the routes, the plugin and the targets', async () => {
    // A minute may end between two requests.
    let limited = await recorded('/limited');
    await until(async () => {
      limited = await recorded('/limited');
      return (await rig.gateway.admin('GET', `/traffic/${limited}`)).body['status'] === 429;
    });
    // Routes are compared only while there is time for it, which a busy machine may not have at first.
    let lost = '';
    await until(async () => {
      lost = await recorded('/users/42', { method: 'DELETE' });
      const { body } = await rig.gateway.admin('GET', `/traffic/${lost}`);
      return String(body['reason']).includes('wants the method GET');
    });
    // Its only target fails, and is unhealthy from then on.
    let pooled = await recorded('/pooled');
    await until(async () => {
      pooled = await recorded('/pooled');
      return (await rig.gateway.admin('GET', `/traffic/${pooled}`)).body['status'] === 503;
    });
    await using desk = await rig.open(`/traffic/${lost}`);
    const { page } = desk;
    const why = page.locator('.why');
    await why.getByText('No route matched: the nearest, users, wants the method GET.').waitFor();
    await page.getByRole('row', { name: 'users The method DELETE is not GET' }).waitFor();
    await page.getByRole('row', { name: 'open The path /users/42 is not below /open' }).waitFor();
    await why.getByRole('link', { name: 'users' }).click();
    await page.waitForURL('**/config/routes/*');
    await untilPasses(() => assert.equal(new URL(page.url()).hash, '#field-methods'));
    const focused = '(document.activeElement.closest(".field") ?? document.body).querySelector(".label")?.textContent';
    await until(async () => (await page.evaluate(focused)) === 'methods', 10_000);

    await page.goto(`${rig.url}/traffic/${limited}`);
    await why.getByText('The plugin rate-limiting answered 429: API rate limit exceeded.').waitFor();
    await untilPasses(async () => assert.equal(await why.getByRole('link', { name: 'rate-limiting' }).count(), 1));

    await page.goto(`${rig.url}/traffic/${pooled}`);
    await why.getByText('The upstream pool has no usable target: no address is healthy and admitted.').waitFor();
    await page.getByText(`${local}:1: unhealthy`).waitFor();
    await why.getByRole('link', { name: 'pool' }).click();
    await page.getByRole('heading', { level: 1, name: 'pool' }).waitFor();
  });

  it('copied as curl, a request is the same one: with the secrets that the reader fills in', async () => {
    const headers = { apikey: 'key-of-ada', 'X-Quote': `it's "quoted" $HOME \`id\``, Accept: 'text/x-own' };
    const id = await recorded('/users/a%20b/$(id)?q=%27x%27&list[]=1', { headers });
    await using desk = await rig.open(`/traffic/${id}`, { permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = desk;
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByText('Copied.').waitFor();
    await page.getByText('Secrets are not recorded. Before you run it, replace FILL_IN_apikey.').waitFor();
    await desk.check('the curl command');
    const command = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.ok(!command.includes('key-of-ada'));
    const first = backend.requests.at(-1);
    const filled = command.replace('FILL_IN_apikey', 'key-of-ada');
    const { stdout } = await promisify(execFile)('sh', ['-c', filled], { timeout: 10_000 });
    assert.match(stdout, /^HTTP\/1\.1 200 /);
    const second = backend.requests.at(-1);
    assert.notEqual(second, first);
    assert.deepEqual([second?.method, second?.url], [first?.method, first?.url]);
    const own = (all: typeof first) =>
      Object.entries(all?.headers ?? {}).filter(([name]) => !/^x-(?:forwarded|kong|real)|^connection$/.test(name));
    assert.deepEqual(own(second).toSorted(), own(first).toSorted());
  });

  it('records bodies while somebody asks for them, with secrets masked', async () => {
    await using desk = await rig.open('/traffic?path=/open/body', {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const { page } = desk;
    await page.getByLabel('Record bodies').check();
    await page.getByText('Live').waitFor();
    await page.getByRole('heading', { name: 'Nothing matches' }).waitFor();
    const post = (text: string) =>
      send('/open/body', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: text });
    const masked = await post('{"user":"ada","password":"secret-of-ada"}');
    const body = `{"text":"it's @home, \u00e9 $HOME \`id\`"}`;
    const whole = await post(body);
    await untilShown(page, ['/open/body', '/open/body']);
    await page.goto(`${rig.url}/traffic/${masked}`);
    const shown = page.getByRole('region', { name: 'Request' }).locator('pre');
    await shown.waitFor();
    await untilPasses(async () => assert.equal(await shown.innerText(), '{"user":"ada","password":"REDACTED"}'));
    await page.getByRole('region', { name: 'Answer' }).locator('pre').getByText('"backend":"backend"').waitFor();
    assert.ok(!(await page.locator('main').innerText()).includes('secret-of-ada'));
    await desk.check('a request with bodies');

    await page.goto(`${rig.url}/traffic/${whole}`);
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByText('Copied.').waitFor();
    const command = await page.evaluate<string>('navigator.clipboard.readText()');
    await promisify(execFile)('sh', ['-c', command], { timeout: 10_000 });
    const [first, second] = backend.requests.slice(-2);
    assert.equal(second?.body, body);
    assert.equal(first?.body, body);
  });

  it('attack: nothing of a request breaks the page, hides, or looks like something else', async () => {
    using client = await openClient(rig.gateway.proxyPort);
    const html = '<img/src=x/onerror=alert(1)><script>document.title=`owned`</script>';
    const direction = Buffer.from('\u202egnp.exe\u2066\u200b', 'utf8').toString('latin1');
    const head = [
      `GET /open/%E2%80%AEgnp.exe/${html}?a=${html} HTTP/1.1`,
      'Host: a.test',
      `X-Html: ${html}`,
      `X-Direction: ${direction}`,
      `X-Long: ${'long'.repeat(3000)}`,
      `X-Marks: ${Buffer.from('a\u0301\u0301\u0301\u0301\u0301', 'utf8').toString('latin1')}`,
      `X-Bytes: \x80\xff\xfe`,
      `X-Tab:\ta\tb`,
      `__proto__: polluted`,
    ].join('\r\n');
    client.write(`${head}\r\n\r\n`);
    const { status } = await client.readResponse();
    assert.equal(status, 200);
    await using desk = await rig.open('/traffic?path=/open/%E2%80%AE');
    const { page } = desk;
    await rows(page).getByText('/open/\\u{202e}gnp.exe').first().waitFor();
    await desk.check('a hostile request in the list');
    await rows(page).first().click();
    const table = page.getByRole('table', { name: 'Request headers' });
    await table.getByText(html).waitFor();
    await table.getByText('\\u{202e}gnp.exe\\u{2066}\\u{200b}').waitFor();
    await table.getByText('a\\u{301}').waitFor();
    await table.getByText('polluted').waitFor();
    const text = await page.locator('main').innerText();
    assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/);
    assert.equal(text.includes('long'.repeat(1001)), false, 'a long value is shown in part');
    await page.getByRole('button', { name: 'Show all 12,000 characters' }).click();
    await page.getByText('long'.repeat(3000)).first().waitFor();
    assert.notEqual(await page.title(), 'owned');
    assert.equal(await page.locator('main img, main script').count(), 0);
    await untilPasses(async () =>
      assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')) <= 0),
    );
    await desk.check('a hostile request');
  });

  it('a megabyte in each member of a record is shown in part', async () => {
    const id = await recorded('/users/1');
    const { body } = await rig.gateway.admin('GET', `/traffic/${id}`);
    const long = 'm'.repeat(1_048_576);
    const inflated = (value: unknown): unknown =>
      typeof value === 'string' && !/^[0-9a-f-]{32,36}$|^\d{4}-/.test(value)
        ? value + long
        : Array.isArray(value)
          ? value.map(inflated)
          : typeof value === 'object' && value !== null
            ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inflated(one)]))
            : value;
    const request = {
      ...Object(Object(body['explanation']).request),
      body: { text: `secret ${long}`, truncated: true },
    };
    const explanation = { ...Object(body['explanation']), request };
    const { headers, summary } = inflated({
      headers: request.headers,
      summary: explanation.summary,
    }) as typeof explanation;
    const record = { ...body, path: long, explanation: { ...explanation, summary, request: { ...request, headers } } };
    await using desk = await rig.open('/traffic');
    const { page } = desk;
    await page.route(`**/api/traffic/${id}`, (route) => route.fulfill({ json: record }));
    await page.goto(`${rig.url}/traffic/${id}`);
    await page.getByText('Only the beginning was recorded.').waitFor();
    const length = await page.evaluate<number>('document.querySelector("main").textContent.length');
    assert.ok(length < 40_000, `${length} characters`);
    await desk.check('a record with large members');
  });

  it('says that the gateway does not answer, and then shows what was missed', async () => {
    await rig.gateway.admin('DELETE', '/traffic');
    await using desk = await rig.open('/traffic');
    const { page } = desk;
    await page.getByRole('heading', { name: 'No requests yet' }).waitFor();
    await page.route('**/api/**', (route) => route.abort('connectionrefused'));
    await page.reload();
    await page.getByRole('heading', { name: 'The gateway does not answer' }).waitFor();
    await page.unroute('**/api/**');
    await recorded('/open/missed');
    const retry = page.getByRole('button', { name: 'Try again' });
    if (await retry.isVisible()) await retry.click();
    await untilShown(page, ['/open/missed']);
    const message = 'this node is a control plane and carries no traffic: its data planes do';
    await page.route('**/api/traffic**', (route) => route.fulfill({ status: 400, json: { message } }));
    await page.route('**/api/traffic/**', (route) => route.fulfill({ status: 400, json: { message } }));
    await page.reload();
    await page.getByRole('heading', { name: 'This node records no traffic' }).waitFor();
    await page.getByText(message).waitFor();
    await desk.check('a control plane');
    await page.unrouteAll();
    await page.goto(`${rig.url}/traffic/${'0'.repeat(32)}`);
    await page.getByRole('heading', { name: 'This request is not recorded' }).waitFor();
    await desk.check('a request that is not recorded');
  });

  it('works in both themes and at 360 pixels', async () => {
    const refused = await recorded('/users/1');
    const answered = await recorded('/users/1', withKey);
    const looks = [
      { colorScheme: 'dark', width: 1280 },
      { colorScheme: 'light', width: 360 },
    ] as const;
    for (const { colorScheme, width } of looks) {
      await using desk = await rig.open('/traffic', { colorScheme, viewport: { width, height: 800 } });
      const { page } = desk;
      await rows(page).first().waitFor();
      for (const place of ['/traffic', `/traffic/${refused}`, `/traffic/${answered}`]) {
        if (place !== '/traffic') {
          await page.goto(`${rig.url}${place}`);
          await page.locator('.facts').waitFor();
        }
        await desk.check(`${place}, ${colorScheme}, ${width} px`);
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        assert.ok(overflow <= 0, `${place} is ${overflow} px too wide at ${width} px`);
      }
    }
  });

  it('is for the role read, too', async () => {
    const first = await rig.gateway.admin('POST', '/admin-users', { name: 'root', role: 'admin' });
    const admin = callAdminAs(rig.gateway.adminUrl, String(first.body['token']));
    assert.equal((await admin('POST', '/admin-users', { name: 'reader', role: 'read' })).status, 201);
    const token = String((await admin('POST', '/admin-users/reader/tokens', { name: 'browser' })).body['token']);
    await using desk = await rig.open('/traffic?path=/open/reader');
    const { page } = desk;
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Nothing matches' }).waitFor();
    await untilPasses(async () => assert.equal(await page.getByLabel('Record bodies').count(), 0));
    const id = await send('/open/reader');
    await untilShown(page, ['/open/reader']);
    await rows(page).first().click();
    await page.waitForURL(`**/traffic/${id}`);
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await desk.check('the traffic of a reader');
  });
});
