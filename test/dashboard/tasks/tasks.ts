import assert from 'node:assert/strict';
import type { DashboardRig } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';
import type { Person } from './person.ts';

/** Something that people do with a gateway, as a script and in the browser. */
export interface Task {
  readonly title: string;
  /** For `sh`. `ADMIN`, `PROXY`, `BACKEND` and `FILE` are set. */
  readonly script: string;
  /** Begins at the overview. */
  readonly browser: (person: Person, place: TaskPlace) => Promise<void>;
  /** Fails unless the task is done. `output`: of the script; null: it was done in the browser. */
  readonly check: (place: TaskPlace, output: string | null) => Promise<void>;
  /** Before each of both ways. */
  readonly prepare: (place: TaskPlace) => Promise<void>;
}

export interface TaskPlace {
  readonly rig: DashboardRig;
  readonly backend: string;
  /** An OpenAPI document. */
  readonly file: string;
  readonly admin: (method: string, path: string, body?: unknown) => Promise<Readonly<Record<string, unknown>>>;
  /** Sends a request through the gateway; its status. */
  readonly send: (path: string, headers?: Readonly<Record<string, string>>) => Promise<number>;
}

/** What a script is for is in its output; the browser has shown it. */
function shows(output: string | null, text: RegExp): void {
  if (output !== null) assert.match(output, text);
}

const jwtSecret = 'secret-of-ada-0123456789-0123456789';

async function ordersWithKey({ admin, backend }: TaskPlace): Promise<void> {
  await admin('POST', '/services', { name: 'orders', url: backend });
  await admin('POST', '/services/orders/routes', { name: 'orders', paths: ['/orders'] });
  await admin('POST', '/services/orders/plugins', { name: 'key-auth' });
  await admin('POST', '/consumers', { username: 'ada' });
  await admin('POST', '/consumers/ada/key-auth', { key: 'adas-key' });
}

/** Waits for the records of requests to `/orders`: the workers send them every 100 ms. */
async function recorded({ admin }: TaskPlace, count: number): Promise<void> {
  await until(async () => ((await admin('GET', '/traffic?path=/orders'))['data'] as unknown[]).length === count);
}

export const tasks: readonly Task[] = [
  {
    title: 'Add a route with a key and a limit',
    prepare: async () => {},
    script: `curl -s $ADMIN/services -d name=orders -d url=$BACKEND
curl -s $ADMIN/services/orders/routes -d name=orders -d 'paths[]=/orders'
curl -s $ADMIN/services/orders/plugins -d name=key-auth
curl -s $ADMIN/services/orders/plugins -d name=rate-limiting -d config.minute=3
curl -s $ADMIN/consumers -d username=ada
curl -s $ADMIN/consumers/ada/key-auth -d key=adas-key`,
    async browser(person, { backend }) {
      await person.goTo('Services');
      await person.link('New service');
      await person.field('name', 'orders');
      await person.field('host', '127.0.0.1');
      await person.field('port', new URL(backend).port);
      await person.button('Create service');
      await person.link('Add route');
      await person.field('paths', '/orders');
      await person.button('Create route');
      await person.link('Add plugin');
      await person.link(/^key-auth/);
      await person.button('Create plugin');
      await person.seesEntity('plugins');
      await person.command('add rate-limiting to orders', /rate-limiting.*service/);
      await person.field('config.minute', '3');
      await person.button('Create plugin');
      await person.seesEntity('plugins');
      await person.goTo('Consumers');
      await person.link('New consumer');
      await person.field('username', 'ada');
      await person.button('Create consumer');
      await person.link('Add API key');
      await person.field('key', 'adas-key');
      await person.button('Create API key');
      await person.sees('Created API key');
    },
    async check({ send }) {
      assert.equal(await send('/orders'), 401);
      const statuses = [];
      for (let sent = 0; sent < 4; sent++) statuses.push(await send('/orders', { apikey: 'adas-key' }));
      assert.deepEqual(statuses, [200, 200, 200, 429]);
    },
  },
  {
    title: 'Find why a client gets 401, and the setting that causes it',
    async prepare(place) {
      await ordersWithKey(place);
      await place.admin('GET', '/traffic');
      assert.equal(await place.send('/orders'), 401);
      await recorded(place, 1);
    },
    script: `curl -s "$ADMIN/traffic?status=401" | jq '.data[] | {id, client, path, reason}'
id=$(curl -s "$ADMIN/traffic?status=401" | jq -r '.data[0].id')
curl -s $ADMIN/traffic/$id | jq '.explanation.why'
plugin=$(curl -s $ADMIN/traffic/$id | jq -r '.explanation.why.cause.id')
curl -s $ADMIN/plugins/$plugin | jq '{name, config}'`,
    async browser(person) {
      await person.goTo('Traffic');
      await person.link(/\b401\b/);
      await person.page.getByRole('heading', { name: 'Timeline' }).waitFor();
      await person.sees(/No API key/);
      await person.link(/key-auth/);
      await person.page.getByRole('textbox', { name: 'key_names' }).waitFor();
    },
    check: async (_place, output) => shows(output, /key_names/),
  },
  {
    title: 'Drain a target before maintenance',
    async prepare({ admin, backend }) {
      await admin('POST', '/upstreams', { name: 'pool' });
      for (const target of [new URL(backend).host, '127.0.0.1:9']) {
        await admin('POST', '/upstreams/pool/targets', { target, weight: 100 });
      }
    },
    script: `curl -s $ADMIN/upstreams/pool/health | jq '.data[] | {id, target, weight, health}'
id=$(curl -s $ADMIN/upstreams/pool/targets | jq -r '.data[] | select(.target == "127.0.0.1:9").id')
curl -s -X PATCH $ADMIN/upstreams/pool/targets/$id -d weight=0`,
    async browser(person) {
      await person.goTo('Upstreams');
      await person.link(/^pool/);
      await person.link(/^127\.0\.0\.1:9/);
      await person.field('weight', '0');
      await person.button('Save');
      await person.sees('Saved.');
    },
    async check({ admin }) {
      const { data } = (await admin('GET', '/upstreams/pool/targets')) as {
        data: { target: string; weight: number }[];
      };
      assert.equal(data.find(({ target }) => target === '127.0.0.1:9')?.weight, 0);
    },
  },
  {
    title: "Roll back yesterday's change, after a look at what that changes",
    async prepare(place) {
      await ordersWithKey(place);
      await place.admin('PATCH', '/services/orders', { path: '/wrong' });
      await place.admin('POST', '/plugins', { name: 'cors' });
    },
    script: `curl -s "$ADMIN/config/versions?size=10" | jq '.data[] | {version, created_at, actor, action}'
version=$(curl -s "$ADMIN/config/versions?size=3" | jq '.data[2].version')
curl -s $ADMIN/config/versions/$version | jq .changes
curl -s -X POST "$ADMIN/config/versions/$version/rollback?dry_run=1" | jq .changes
curl -s -X POST $ADMIN/config/versions/$version/rollback`,
    async browser(person) {
      await person.goTo('History');
      await person.click(person.page.getByRole('main').getByRole('listitem').nth(2).getByRole('link'));
      await person.button('Roll back to this');
      await person.page.getByRole('alertdialog').getByText('/wrong').first().waitFor();
      await person.click(person.page.getByRole('alertdialog').getByRole('button', { name: 'Roll back' }));
      await person.sees(/The config is that of version/);
    },
    async check({ admin }) {
      assert.equal((await admin('GET', '/services/orders'))['path'], null);
      const { data } = (await admin('GET', '/plugins')) as { data: { name: string }[] };
      assert.deepEqual(
        data.map(({ name }) => name),
        ['key-auth'],
      );
    },
  },
  {
    title: 'See what a change would do to the last requests, before it is made',
    async prepare(place) {
      await place.admin('POST', '/services', { name: 'orders', url: place.backend });
      await place.admin('POST', '/services/orders/routes', { name: 'orders', paths: ['/orders'] });
      await place.admin('GET', '/traffic');
      for (let sent = 0; sent < 5; sent++) assert.equal(await place.send('/orders'), 200);
      await recorded(place, 5);
    },
    script: `id=$(curl -s $ADMIN/services/orders | jq -r .id)
curl -s $ADMIN/what-if -H content-type:application/json -d '{"changes": [{"method": "POST",
  "path": "/services/orders/plugins", "body": {"name": "rate-limiting", "config": {"hour": 3}}}]}' |
  jq '{refused, groups}'
curl -s $ADMIN/services/$id/plugins | jq .data`,
    async browser(person) {
      await person.goTo('Services');
      await person.link(/^orders/);
      await person.link('Add plugin');
      await person.link(/^rate-limiting/);
      await person.field('config.hour', '3');
      await person.sees(/refuse 2 of/);
    },
    async check({ admin }, output) {
      if (output !== null) assert.match(output, /"refused": 2/);
      assert.deepEqual((await admin('GET', '/plugins'))['data'], []);
    },
  },
  {
    title: 'See what a request passes: route, plugins in order, service, upstream, healthy targets',
    async prepare({ admin, backend }) {
      await admin('POST', '/upstreams', { name: 'pool' });
      await admin('POST', '/upstreams/pool/targets', { target: new URL(backend).host });
      await admin('POST', '/services', { name: 'orders', host: 'pool' });
      await admin('POST', '/services/orders/routes', { name: 'orders', paths: ['/orders'] });
      await admin('POST', '/services/orders/plugins', { name: 'key-auth' });
    },
    script: `curl -s $ADMIN/routes/orders | jq '{paths, hosts, service}'
curl -s $ADMIN/routes/orders/effective-plugins | jq .
curl -s $ADMIN/routes/orders/service | jq '{name, host, port, path}'
host=$(curl -s $ADMIN/routes/orders/service | jq -r .host)
curl -s $ADMIN/upstreams/$host/health | jq '.data[] | {target, weight, health}'`,
    async browser(person) {
      await person.goTo('Routes');
      await person.link(/^orders/);
      const graph = person.page.locator('section', {
        has: person.page.getByRole('heading', { name: 'The way of a request' }),
      });
      for (const name of ['key-auth', 'orders', 'pool']) await graph.getByRole('link', { name }).first().waitFor();
      await graph
        .getByText(/127\.0\.0\.1:\d+/)
        .first()
        .waitFor();
    },
    check: async (_place, output) => shows(output, /"health"/),
  },
  {
    title: 'Undo a deletion of a service with its routes and plugins',
    async prepare(place) {
      await ordersWithKey(place);
      await place.admin('POST', '/config/apply', { _format_version: '3.0', consumers: [{ username: 'ada' }] });
    },
    script: `curl -s "$ADMIN/config/versions?size=5" | jq '.data[] | {version, action, deleted}'
version=$(curl -s "$ADMIN/config/versions?size=1" | jq '.data[0].version')
curl -s $ADMIN/config/versions/$version | jq .changes
curl -s -X POST $ADMIN/config/versions/$version/undo`,
    async browser(person) {
      await person.goTo('History');
      await person.click(person.page.getByRole('main').getByRole('listitem').first().getByRole('link'));
      await person.button('Undo this change');
      await person.click(
        person.page
          .getByRole('alertdialog')
          .or(person.page.getByRole('dialog'))
          .getByRole('button', { name: 'Undo this change' }),
      );
      await person.sees(/is undone/);
    },
    async check({ send }) {
      assert.equal(await send('/orders', { apikey: 'adas-key' }), 200);
    },
  },
  {
    title: 'Call a route that needs a signed token',
    async prepare({ admin, backend }) {
      await admin('POST', '/services', { name: 'orders', url: backend });
      await admin('POST', '/services/orders/routes', { name: 'orders', paths: ['/orders'] });
      await admin('POST', '/services/orders/plugins', { name: 'jwt' });
      await admin('POST', '/consumers', { username: 'ada' });
      await admin('POST', '/consumers/ada/jwt', { key: 'ada', secret: jwtSecret });
    },
    script: `curl -s $ADMIN/consumers/ada/jwt | jq '.data[] | {key, algorithm}'
head=$(printf '{"alg":"HS256","typ":"JWT"}' | base64 -w0 | tr '+/' '-_' | tr -d =)
claims=$(printf '{"iss":"ada","exp":4102444800}' | base64 -w0 | tr '+/' '-_' | tr -d =)
signature=$(printf '%s.%s' $head $claims | openssl dgst -sha256 -hmac ${jwtSecret} -binary | base64 -w0 | tr '+/' '-_' | tr -d =)
curl -s -i $PROXY/orders -H "Authorization: Bearer $head.$claims.$signature"`,
    async browser(person) {
      const { page } = person;
      await person.goTo('Playground');
      await person.choose(page.getByLabel('Fill in an example for a route'), 'orders');
      await person.choose(page.getByLabel('Plugin'), 'jwt');
      await person.choose(page.getByLabel('Credential of a consumer'), { index: 1 });
      await person.type(page.getByLabel('Secret', { exact: true }), jwtSecret);
      await person.button('Use in request');
      await person.button('Send');
      await page.getByRole('heading', { name: 'Answer 200' }).waitFor();
    },
    check: async (_place, output) => shows(output, /HTTP\/1.1 200/),
  },
  {
    title: 'Import an OpenAPI document, after a look at what it makes',
    prepare: async () => {},
    script: `curl -s -X POST "$ADMIN/apis/import?dry_run=1" -F document=@$FILE | jq .
curl -s -X POST $ADMIN/apis/import -F document=@$FILE | jq .
curl -s $ADMIN/services/tea-shop/routes | jq '.data[] | {name, paths, methods}'`,
    async browser(person, { file }) {
      await person.goTo('APIs');
      await person.button('Import a document');
      await person.chooseFile(person.page.getByLabel('File'), file);
      await person.button('Preview');
      await person.button(/^Import \d+ changes/);
      await person.page.getByRole('heading', { level: 1, name: 'Tea Shop' }).waitFor();
    },
    async check({ admin }) {
      const { data } = (await admin('GET', '/routes')) as { data: unknown[] };
      assert.equal(data.length, 3);
    },
  },
  {
    title: 'Find what needs attention: errors by consumer, failing targets, certificates that expire',
    async prepare(place) {
      await ordersWithKey(place);
      assert.equal(await place.send('/orders'), 401);
    },
    script: `curl -s $ADMIN/overview | jq '{traffic: .traffic.last_minute, failing_targets, circuits, certificates, limits, log}'
curl -s "$ADMIN/analytics/usage?group_by=consumer,status" | jq .data`,
    async browser(person) {
      await person.click(person.page.getByText('Errors', { exact: true }).nth(1));
      await person.page.getByRole('heading', { name: /need/i }).waitFor();
      await person.page.getByRole('heading', { name: 'Consumers' }).waitFor();
    },
    check: async (_place, output) => shows(output, /failing_targets/),
  },
];
