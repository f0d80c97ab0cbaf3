import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Rig, startRig } from '../../../test/support/rig.ts';

type Style = 'page' | 'offset' | 'cursor' | 'before';

interface Item {
  readonly id: number;
  readonly group: number;
  /** Descending and unique. */
  readonly at: number;
}

/** Pages that were requested from the backend, with their style. */
let asked: URLSearchParams[] = [];
const maxOfBackend = 50;
const everything: readonly Item[] = Array.from({ length: 240 }, (_, id) => ({
  id,
  group: (id * 7) % 5,
  at: 1_900_000_000_000_000 - id * 1_000_003,
}));

/** Serves pages in each style, as backends do, over the items of one group or of all. */
const backend = createServer((incoming, outgoing) => {
  const { pathname, searchParams: query } = new URL(incoming.url ?? '/', 'http://backend');
  asked.push(query);
  const style = pathname.slice(1) as Style | 'zipped';
  const group = query.get('group');
  const size = Number(query.get('size') ?? everything.length);
  const all = everything.slice(0, size).filter((item) => group === null || item.group === Number(group));
  const limit = Math.min(Number(query.get('limit') ?? 10), maxOfBackend);
  const start = startOf(style === 'zipped' ? 'offset' : style, query, all, limit);
  const list = all.slice(start, start + limit);
  const next = start + limit < all.length ? `after:${start + limit}` : null;
  const told = query.has('total') ? { total: all.length } : {};
  const body = JSON.stringify({ data: list, ...told, ...(style === 'cursor' ? { nextCursor: next } : {}) });
  const bytes = style === 'zipped' ? gzipSync(body) : Buffer.from(body);
  outgoing.setHeader('Content-Type', 'application/json').setHeader('Content-Length', bytes.byteLength);
  if (style === 'zipped') outgoing.setHeader('Content-Encoding', 'gzip');
  outgoing.end(bytes);
});

function startOf(style: Style, query: URLSearchParams, all: readonly Item[], limit: number): number {
  if (style === 'page') return (Number(query.get('page') ?? 1) - 1) * limit;
  if (style === 'offset') return Number(query.get('offset') ?? 0);
  if (style === 'cursor') return Number((query.get('cursor') ?? 'after:0').slice(6));
  const key = query.get('before');
  const found = key === null ? 0 : all.findIndex(({ at }) => at < Number(key));
  return found < 0 ? all.length : found;
}

let rig: Rig;
const exact: Readonly<Record<Style, readonly Style[]>> = {
  page: ['page', 'offset', 'cursor'],
  offset: ['page', 'offset', 'cursor'],
  cursor: ['cursor'],
  before: ['before', 'cursor'],
};

before(async () => {
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
  const { port } = backend.address() as AddressInfo;
  rig = await startRig({ settings: { plugins: ['pagination'], workers: 2 } });
  await rig.write('PATCH', '/services/backend', { host: '127.0.0.1', port });
  for (const style of Object.keys(exact) as Style[]) await route(style, style, { clients: exact[style] });
});
after(async () => {
  await rig.close();
  backend.closeAllConnections();
  backend.close();
});

async function route(name: string, style: Style, config: Readonly<Record<string, unknown>>): Promise<void> {
  await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`], strip_path: false });
  await rig.write('POST', `/routes/${name}/plugins`, {
    name: 'pagination',
    config: {
      max_limit: maxOfBackend,
      default_limit: 10,
      client: { limit_name: 'size_of_page', page_name: 'p', next_cursor: 'next' },
      ...config,
      backend: { style, key: 'at', total: 'total', ...(config['backend'] as object | undefined) },
    },
  });
}

interface Answer {
  readonly status: number;
  readonly body: { readonly data: readonly Item[]; readonly next?: string | null };
  readonly next: string | null;
}

async function ask(path: string): Promise<Answer> {
  const answer = await fetch(`${rig.gateway.proxyUrl}${path}`);
  const next = /<([^>]*)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1] ?? null;
  return { status: answer.status, body: (await answer.json()) as Answer['body'], next };
}

/** All pages by `Link: rel="next"`. */
async function walkLinks(path: string): Promise<readonly number[]> {
  const ids: number[] = [];
  for (let url: string | null = path; url !== null; ) {
    const answer = await ask(url);
    assert.equal(answer.status, 200, url);
    ids.push(...answer.body.data.map(({ id }) => id));
    assert.ok(ids.length <= everything.length, `${path} does not end`);
    url = answer.next;
  }
  return ids;
}

/** All pages as a client of the style requests them, until one is not full. */
async function walkAlone(path: string, style: Style, limit: number): Promise<readonly number[]> {
  const ids: number[] = [];
  let last: Answer | null = null;
  for (let round = 0; round <= everything.length; round++) {
    const starts = {
      page: `p=${round + 1}`,
      offset: `offset=${ids.length}`,
      cursor: last === null ? '' : `cursor=${last.body.next}`,
      before: last === null ? '' : `before=${last.body.data.at(-1)?.at}`,
    };
    last = await ask(`${path}&size_of_page=${limit}&${starts[style]}`);
    assert.equal(last.status, 200);
    ids.push(...last.body.data.map(({ id }) => id));
    if (style === 'cursor' ? last.body.next === null : last.body.data.length < limit) return ids;
  }
  throw new Error(`${path} does not end`);
}

const seed = Math.floor(Math.random() * 2 ** 31);
let state = seed;

function random(below: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
  return (state >>> 8) % below;
}

test(`returns each item once and in order with every exact mapping (seed ${seed})`, async () => {
  for (const [style, clients] of Object.entries(exact) as [Style, readonly Style[]][]) {
    for (const client of clients) {
      for (let round = 0; round < 6; round++) {
        const size = [0, 1, 40, 60][round] ?? random(everything.length);
        const limit = round === 2 ? 20 : 3 + random(maxOfBackend - 2);
        const group = round % 2 === 0 ? '' : `&group=${random(5)}`;
        const total = random(2) === 0 ? '' : '&total';
        const path = `/${style}?size=${size}${group}${total}`;
        const wanted = everything
          .slice(0, size)
          .filter((item) => group === '' || item.group === Number(group.slice(7)))
          .map(({ id }) => id);
        const what = `${client} over ${style}, ${path}, limit ${limit}`;
        const start = { page: 'p=1', offset: 'offset=0', cursor: '', before: '' }[client];
        assert.deepEqual(await walkLinks(`${path}&size_of_page=${limit}&${start}`), wanted, what);
        assert.deepEqual(await walkAlone(path, client, limit), wanted, what);
      }
    }
  }
});

test('continues a cursor with another limit', async () => {
  for (const style of Object.keys(exact) as Style[]) {
    const ids: number[] = [];
    let next: string | null | undefined;
    for (let round = 0; round < 100 && next !== null; round++) {
      const limit = 1 + random(maxOfBackend);
      const answer: Answer = await ask(`/${style}?size_of_page=${limit}${next === undefined ? '' : `&cursor=${next}`}`);
      ids.push(...answer.body.data.map(({ id }) => id));
      assert.ok(answer.body.data.length <= limit);
      next = answer.body.next;
    }
    assert.deepEqual(
      ids,
      everything.map(({ id }) => id),
      `${style}, seed ${seed}`,
    );
  }
});

test('serves pages over a cursor backend by requesting all earlier pages, within the bound', async () => {
  for (const style of ['cursor', 'before'] as const) {
    const name = `${style}-walked`;
    await rig.write('PUT', `/services/${name}`, {
      url: `http://127.0.0.1:${(backend.address() as AddressInfo).port}/${style}`,
    });
    await rig.write('PUT', `/services/${name}/routes/${name}`, { paths: [`/${name}`] });
    await rig.write('POST', `/routes/${name}/plugins`, {
      name: 'pagination',
      config: {
        clients: ['page', 'offset', 'cursor'],
        approximate: ['page', 'offset'],
        max_limit: maxOfBackend,
        max_walk_calls: 6,
        client: { limit_name: 'size_of_page', page_name: 'p', next_cursor: 'next' },
        backend: { style, key: 'at' },
      },
    });
    const wanted = everything.map(({ id }) => id);
    assert.deepEqual(await walkLinks(`/${name}?size_of_page=48&p=1`), wanted.slice(0, 240));
    assert.deepEqual(
      (await ask(`/${name}?size=100&offset=33&size_of_page=20`)).body.data.map(({ id }) => id),
      wanted.slice(33, 53),
    );
    asked = [];
    const beyond = await ask(`/${name}?size=30&p=9&size_of_page=20`);
    assert.deepEqual([beyond.status, beyond.body.data, beyond.body.next], [200, [], null]);
    assert.equal(asked.length, 1);
    asked = [];
    assert.equal((await ask(`/${name}?p=100&size_of_page=20`)).status, 400);
    assert.equal(asked.length, 0);
    // From such a page a client can continue with cursors.
    const { next } = (await ask(`/${name}?p=3&size_of_page=20`)).body;
    const after = await ask(`/${name}?size_of_page=20&cursor=${next}`);
    assert.equal(after.body.data[0]?.id, 60);
  }
});

test('sends no length for HEAD that a GET would not have', async () => {
  const answer = await fetch(`${rig.gateway.proxyUrl}/offset?p=2`, { method: 'HEAD' });
  assert.deepEqual([answer.status, answer.headers.get('content-length')], [200, null]);
  assert.equal((await fetch(`${rig.gateway.proxyUrl}/offset?p=0`, { method: 'HEAD' })).status, 400);
});

test('converts compressed answers, and large ones in another thread', async () => {
  await route('zipped', 'offset', { clients: ['page'], backend: { style: 'offset', items: 'data' } });
  const { body, next } = await ask('/zipped?p=2');
  assert.deepEqual([body.data[0]?.id, body.data.length, next], [10, 10, '/zipped?size_of_page=10&p=3']);
  const large = Array.from({ length: 10 }, (_, id) => ({ id, text: 'x'.repeat(40_000) }));
  const own = createServer((_, outgoing) => {
    outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ data: large }));
  });
  await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve));
  await rig.write('PUT', '/services/large', { url: `http://127.0.0.1:${(own.address() as AddressInfo).port}` });
  await rig.write('PUT', '/services/large/routes/large', { paths: ['/large'] });
  await rig.write('POST', '/routes/large/plugins', {
    name: 'pagination',
    config: { backend: { style: 'offset' }, default_limit: 10 },
  });
  const answer = (await (await fetch(`${rig.gateway.proxyUrl}/large`)).json()) as { nextCursor: string; data: unknown };
  assert.deepEqual(answer.data, large);
  // It was created in the other thread, and is decoded here.
  assert.equal((await fetch(`${rig.gateway.proxyUrl}/large?cursor=${answer.nextCursor}`)).status, 200);
  own.closeAllConnections();
  own.close();
});
