import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  postgresSettings,
  skipWithoutPostgres,
  startPostgres,
  type TestPostgres,
} from '../../../test/support/postgres.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { startTestAdmin, type TestAdmin } from './admin.fixture.ts';

interface Page {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly next: string | null;
  readonly offset?: string;
  readonly nextCursor: string | null;
}

describe('lists over SQLite', () => suite(async () => undefined));

describe('lists over PostgreSQL', { skip: skipWithoutPostgres() }, () => {
  let postgres: TestPostgres;
  before(async () => {
    postgres = await startPostgres();
  });
  after(() => postgres.stop());
  suite(async () => {
    return postgresSettings(postgres);
  });
});

function suite(pg: () => Promise<Settings['pg'] | undefined>): void {
  let admin: TestAdmin;
  const names: string[] = [];

  before(async () => {
    const given = await pg();
    admin = await startTestAdmin(given === undefined ? {} : { pg: given });
    await admin.call('PUT', '/services/parent', { host: 'parent.test' });
    await admin.call('PUT', '/upstreams/parent.up', {});
    for (let index = 1; index <= 7; index += 1) {
      // Three items share one instant, and their ids say nothing of the order of their names.
      const instant = index >= 3 && index <= 5 ? { created_at: 1_700_000_000 } : { created_at: 1_600_000_000 + index };
      const name = `item${index}`;
      await admin.call('POST', '/consumers', { username: name, ...instant, tags: ['all', `only${index}`] });
      await admin.call('POST', '/services/parent/routes', { name, paths: [`/${name}`], ...instant });
      await admin.call('POST', '/upstreams/parent.up/targets', { target: `${name}.test`, ...instant });
    }
    names.push(...(await read('/consumers')).data.map((item) => String(item['username'])));
  });
  after(() => admin[Symbol.asyncDispose]());

  async function read(path: string): Promise<Page> {
    const answer = await admin.call('GET', path);
    assert.equal(answer.status, 200, `${path} ${answer.text}`);
    return answer.json as unknown as Page;
  }

  /** Follows the links that `next` returns to the end of the list, and returns its items in order. */
  async function walk(first: string, next: (page: Page) => string | null, maxPages = 50): Promise<Page['data']> {
    const items: Page['data'][number][] = [];
    let path: string | null = first;
    for (let pages = 0; path !== null; pages += 1) {
      assert.ok(pages < maxPages, `${first} does not end`);
      const page: Page = await read(path);
      items.push(...page.data);
      path = next(page);
    }
    return items;
  }

  const collections = [
    { path: '/consumers', key: 'username' },
    { path: '/routes', key: 'name' },
    { path: '/services/parent/routes', key: 'name' },
    { path: '/upstreams/parent.up/targets', key: 'target' },
    { path: '/upstreams/parent.up/targets/all', key: 'target' },
    { path: '/tags', key: 'tag' },
    { path: '/tags/all', key: 'entity_id' },
  ];

  test('lists are ordered by the time of creation, then by id', async () => {
    const { data } = await read('/consumers');
    const keys = data.map((item) => `${item['created_at']} ${item['id']}`);
    assert.deepEqual(keys, keys.toSorted());
    assert.deepEqual(names.slice(0, 2), ['item1', 'item2']);
    assert.deepEqual(
      names.slice(4),
      ['item3', 'item4', 'item5'].toSorted((a, b) => names.indexOf(a) - names.indexOf(b)),
    );
  });

  for (const { path, key } of collections) {
    test(`every style sees every item of ${path} once`, async () => {
      const whole = (await read(`${path}?limit=1000`)).data.map((item) => item[key]);
      assert.ok(whole.length >= 7);
      const byCursor = await walk(`${path}?limit=2`, ({ nextCursor }) =>
        nextCursor === null ? null : `${path}?limit=2&cursor=${nextCursor}`,
      );
      assert.deepEqual(
        byCursor.map((item) => item[key]),
        whole,
      );
      for (const name of ['limit', 'size']) {
        let number = 1;
        const byPage = await walk(`${path}?page=1&${name}=3`, ({ nextCursor }) => {
          number += 1;
          return nextCursor === null ? null : `${path}?page=${number}&${name}=3`;
        });
        assert.deepEqual(
          byPage.map((item) => item[key]),
          whole,
        );
      }
      const backInTime = await walk(`${path}?before=2100-01-01T00:00:00Z&limit=2`, ({ nextCursor }) =>
        nextCursor === null ? null : `${path}?cursor=${nextCursor}&limit=2`,
      );
      assert.deepEqual(
        backInTime.map((item) => item[key]),
        whole.toReversed(),
      );
      const bothGiven = await walk(`${path}?before=2100-01-01&limit=2`, ({ nextCursor }) =>
        nextCursor === null ? null : `${path}?before=2100-01-01&cursor=${nextCursor}&limit=2`,
      );
      assert.deepEqual(
        bothGiven.map((item) => item[key]),
        whole.toReversed(),
      );
      const byKong = await walk(`${path}?size=2`, ({ offset }) =>
        offset === undefined ? null : `${path}?size=2&offset=${offset}`,
      );
      const newestFirst = path.endsWith('/targets');
      assert.deepEqual(
        byKong.map((item) => item[key]),
        newestFirst ? whole.toReversed() : whole,
      );
    });

    test(`the links of ${path} lead to the end in every style`, async () => {
      const count = (await read(`${path}?limit=1000`)).data.length;
      for (const query of ['limit=2', 'page=1&size=2', 'before=2100-01-01&limit=2', 'size=2']) {
        const items = await walk(`${path}?${query}`, ({ next }) => next);
        assert.equal(items.length, count, query);
      }
    });

    test(`the first page of ${path} says that there is more, the last that there is not`, async () => {
      for (const query of ['limit=2', 'page=1&limit=2', 'before=2100-01-01&limit=2', 'size=2']) {
        const page = await read(`${path}?${query}`);
        assert.equal(page.data.length, 2);
        assert.ok(page.next?.startsWith(`${path}?`), String(page.next));
        assert.equal(page.offset, page.nextCursor);
        assert.equal(typeof page.nextCursor, 'string');
      }
      for (const query of ['', 'limit=1000', 'page=1&limit=1000', 'page=2&limit=1000', 'page=2147483647&limit=1000']) {
        const page = await read(`${path}?${query}`);
        assert.equal(page.next, null);
        assert.equal(page.nextCursor, null);
        assert.ok(!('offset' in page));
        assert.equal(page.data.length === 0, query.includes('page=2'));
      }
      assert.deepEqual((await read(`${path}?before=1970-01-01`)).data, []);
    });
  }

  test('the id of an item starts paging back in time right after it', async () => {
    const all = (await read('/consumers')).data;
    for (const [index, item] of all.entries()) {
      const page = await read(`/consumers?before=${item['id']}`);
      assert.deepEqual(page.data, all.slice(0, index).toReversed());
    }
  });

  test('an id that is not in the list is refused', async () => {
    const [route] = (await read('/routes')).data;
    for (const path of ['/consumers', '/services/parent/routes', '/tags']) {
      const unknown = '00000000-0000-4000-8000-000000000000';
      const answer = await admin.call('GET', `${path}?before=${unknown}`);
      assert.equal(answer.status, 400);
      assert.equal(
        answer.json['message'],
        `invalid option (before: there is no item with id '${unknown}' in this list)`,
      );
    }
    assert.equal((await admin.call('GET', `/consumers?before=${route?.['id']}`)).status, 400);
  });

  test('a bad parameter of a list is refused in the shape of Kong', async () => {
    assert.deepEqual((await admin.call('GET', '/consumers?offset=x')).json, {
      code: 7,
      name: 'invalid offset',
      message: "'x' is not a valid offset: bad base64 encoding",
    });
    assert.deepEqual((await admin.call('GET', '/services/parent/routes?size=0')).json, {
      code: 9,
      name: 'invalid size',
      message: 'size must be an integer between 1 and 1000',
    });
    assert.deepEqual((await admin.call('GET', '/upstreams/parent.up/targets?size=x')).json, {
      code: 9,
      name: 'invalid size',
      message: 'size must be a number',
    });
    assert.deepEqual((await admin.call('GET', '/tags?page=0')).json, {
      code: 11,
      name: 'invalid options',
      message: 'invalid option (page: must be an integer between 1 and 2147483647)',
      options: { page: 'must be an integer between 1 and 2147483647' },
    });
  });

  test('the tags filter narrows every style and stays in the links', async () => {
    for (const query of ['limit=2', 'page=1&limit=2', 'size=2', 'before=2100-01-01&limit=2']) {
      const items = await walk(`/consumers?tags=only1%2Fonly2%2Fonly4&${query}`, ({ next }) => next);
      assert.deepEqual(items.map((item) => item['username']).toSorted(), ['item1', 'item2', 'item4'], query);
    }
    const page = await read('/consumers?size=1&tags=all,only3');
    assert.deepEqual(
      page.data.map((item) => item['username']),
      ['item3'],
    );
    const first = await read('/consumers?size=1&tags=all');
    assert.match(String(first.next), /^\/consumers\?offset=[\w-]+&tags=all&size=1$/);
    assert.deepEqual((await read('/consumers?tags=none')).data, []);
    assert.equal((await read('/services/parent/routes?tags=none')).data.length, 7);
    const bad = await admin.call('GET', '/consumers?tags=a,b/c');
    assert.equal(bad.status, 400);
    assert.equal(bad.json['message'], 'invalid option (tags: invalid filter syntax)');
  });

  test('inserts and deletes during paging neither repeat nor skip an item', async () => {
    for (const query of ['limit=2', 'size=2']) {
      const seen: unknown[] = [];
      const expected = (await read('/consumers?limit=1000')).data.map((item) => item['username']);
      let path: string | null = `/consumers?${query}`;
      for (let step = 0; path !== null; step += 1) {
        const page: Page = await read(path);
        seen.push(...page.data.map((item) => item['username']));
        path = page.nextCursor === null ? null : `/consumers?limit=2&cursor=${page.nextCursor}`;
        if (step < 3) {
          const username = `late-${query}-${step}`;
          await admin.call('POST', '/consumers', { username });
          expected.push(username);
          // An item that was seen already is deleted; paging by page number would now skip an item.
          if (step === 1) await admin.call('DELETE', `/consumers/${String(seen[0])}`);
        }
      }
      assert.deepEqual(seen, expected);
    }
  });

  test('paging back in time does not return items that were created after it began', async () => {
    const first = await read('/consumers?before=2100-01-01&limit=3');
    await admin.call('POST', '/consumers', { username: 'newest' });
    const rest = await walk(`/consumers?cursor=${first.nextCursor}&limit=3`, ({ nextCursor }) =>
      nextCursor === null ? null : `/consumers?cursor=${nextCursor}&limit=3`,
    );
    const seen = [...first.data, ...rest].map((item) => item['username']);
    assert.ok(!seen.includes('newest'));
    assert.equal(new Set(seen).size, seen.length);
    assert.equal((await read('/consumers?before=2100-01-01&limit=1')).data[0]?.['username'], 'newest');
  });

  test('HEAD of a list has the headers of GET', async () => {
    const [get, head] = [await admin.call('GET', '/consumers?limit=2'), await admin.call('HEAD', '/consumers?limit=2')];
    assert.equal(head.status, 200);
    assert.equal(head.headers['content-length'], get.headers['content-length']);
    assert.equal(head.text, '');
  });
}
