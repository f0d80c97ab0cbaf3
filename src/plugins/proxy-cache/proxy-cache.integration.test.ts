import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { answer, type BackendRequest } from '../../../test/support/raw-backend.ts';
import { openClient } from '../../../test/support/raw-client.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { until } from '../../../test/support/until.ts';

type Script = (request: BackendRequest) => string | Promise<string>;

const json = 'Content-Type: application/json\r\n';

let rig: Rig;
let script: Script = () => answer('""', json);
let serial = 0;
/** Ids of the plugin instances by the name of their route. */
const plugins = new Map<string, string>();

before(async () => {
  rig = await startRig({
    script: async (connection) => {
      for (;;) {
        const request = await connection.readRequest();
        // Answers may come in any order.
        void Promise.resolve(script(request)).then((bytes) => connection.write(Buffer.from(bytes, 'latin1')));
      }
    },
    settings: { workers: 2, plugins: ['proxy-cache'] },
  });
  await cached('plain', {});
  await cached('heeding', { cache_control: true });
  await cached('patient', { coalescing_wait: 300 });
});
after(() => rig.close());
afterEach(async () => {
  assert.equal((await rig.gateway.admin('DELETE', '/proxy-cache')).status, 204);
});

/** A route `/<name>` with the cache. */
async function cached(name: string, config: Readonly<Record<string, unknown>>): Promise<void> {
  await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`], strip_path: false });
  const { id } = await rig.write('POST', `/routes/${name}/plugins`, {
    name: 'proxy-cache',
    config: { strategy: 'memory', ...config },
  });
  plugins.set(name, String(id));
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly cache: string | null;
  readonly key: string;
}

/** On a connection of its own, so that all workers get some. */
async function ask(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Answer> {
  const response = await fetch(rig.gateway.proxyUrl + path, { method, headers: { connection: 'close', ...headers } });
  const text = await response.text();
  const key = response.headers.get('x-cache-key') ?? '';
  return {
    status: response.status,
    text,
    headers: response.headers,
    cache: response.headers.get('x-cache-status'),
    key,
  };
}

const times = <T>(count: number, work: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => work(at)));

const asked = (path: string): number => rig.backend.requests.filter(({ target }) => target.startsWith(path)).length;

describe('the cache', () => {
  it('is one for all workers', async () => {
    script = () => answer(`${++serial}`, json);
    const first = await ask('/plain/workers');
    assert.equal(first.cache, 'Miss');
    const others = await times(20, () => ask('/plain/workers'));
    assert.deepEqual(new Set(others.map(({ cache, text }) => `${cache} ${text}`)), new Set([`Hit ${first.text}`]));
    assert.equal(asked('/plain/workers'), 1);
  });

  it('gives bodies as they are, with their coding', async () => {
    const body = gzipSync('x'.repeat(5000)).toString('latin1');
    script = () => answer(body, `${json}Content-Encoding: gzip\r\nVary: Accept-Encoding\r\nETag: "gz"\r\n`);
    for (const status of ['Miss', 'Hit', 'Hit']) {
      const got = await ask('/plain/coded', { 'accept-encoding': 'gzip' });
      assert.deepEqual([got.cache, got.text.length, got.headers.get('etag')], [status, 5000, '"gz"']);
    }
  });

  it('gives large bodies as they are', async () => {
    const body = JSON.stringify({ text: 'abc'.repeat(300_000) });
    script = () => answer(body, json);
    for (const status of ['Miss', 'Hit']) {
      const got = await ask('/plain/large');
      assert.equal(got.cache, status);
      assert.ok(got.text === body);
    }
  });

  it('counts as proxied: latencies of the backend are told, and are none', async () => {
    script = () => answer('1', json);
    await ask('/plain/latency');
    const { headers } = await ask('/plain/latency');
    assert.equal(headers.get('x-kong-upstream-latency'), '0');
  });
});

describe('coalescing', () => {
  it('makes one request of a hundred, on all workers', { timeout: 10_000 }, async () => {
    const held = gate();
    script = async () => {
      await held.open;
      return answer(`${++serial}`, json);
    };
    const waiting = times(100, () => ask('/patient/hundred'));
    await until(() => asked('/patient/hundred') === 1);
    // The others are there, and wait.
    await rig.gateway.admin('GET', '/status');
    held.let();
    const answers = await waiting;
    assert.equal(asked('/patient/hundred'), 1);
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    assert.equal(answers.filter(({ cache }) => cache === 'Miss').length, 1);
  });

  it('lets all go at once when the answer is not for them', { timeout: 10_000 }, async () => {
    const held = gate();
    const all = gate();
    let coming = 0;
    script = async ({ connection }) => {
      const own = `${json}Cache-Control: no-store\r\n`;
      if (++coming === 1) {
        // Its head says that it is not kept. It ends only once all have come.
        await held.open;
        connection.write(`HTTP/1.1 200 OK\r\n${own}Content-Length: 1\r\n\r\n`);
        await all.open;
        return '0';
      }
      if (coming === 20) all.let();
      await all.open;
      return answer(`${++serial}`, own);
    };
    const waiting = times(20, () => ask('/patient/not-kept'));
    await until(() => coming === 1);
    held.let();
    const answers = await waiting;
    assert.equal(new Set(answers.map(({ text }) => text)).size, 20);
    assert.equal(asked('/patient/not-kept'), 20);
  });

  it('goes on with another one when the first gives up', { timeout: 10_000 }, async () => {
    const first = gate();
    script = async () => {
      if (asked('/patient/gone') === 1) await first.open;
      return answer(`${++serial}`, json);
    };
    using client = await openClient(rig.port);
    client.write('GET /patient/gone HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    await until(() => asked('/patient/gone') === 1);
    const host = `127.0.0.1`;
    const other = (async () => {
      using second = await openClient(rig.port);
      second.write(`GET /patient/gone HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      return await second.readResponse();
    })();
    client.reset();
    assert.equal((await other).status, 200);
    first.let();
  });
});

describe('stale answers', () => {
  it('are used while the backend is asked, in the background', async () => {
    script = (request) => {
      const headers = `${json}Cache-Control: max-age=0, stale-while-revalidate=60\r\nETag: "1"\r\n`;
      return request.get('if-none-match') === '"1"'
        ? 'HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=60\r\nETag: "1"\r\nX-Confirmed: yes\r\n\r\n'
        : answer('"old"', headers);
    };
    assert.equal((await ask('/heeding/meanwhile')).cache, 'Miss');
    const stale = await ask('/heeding/meanwhile');
    assert.deepEqual([stale.cache, stale.text], ['Hit', '"old"']);
    await until(async () => (await ask('/heeding/meanwhile')).headers.get('x-confirmed') === 'yes');
    assert.equal(asked('/heeding/meanwhile'), 2);
  });

  it('stand for a backend that cannot be reached', async () => {
    script = () => answer('"old"', `${json}Cache-Control: max-age=0, stale-if-error=60\r\nETag: "1"\r\n`);
    await rig.write('PUT', '/services/gone', { url: rig.backend.url, retries: 0 });
    await rig.write('PUT', '/services/gone/routes/gone', { paths: ['/gone'], strip_path: false });
    const config = { strategy: 'memory', cache_control: true };
    await rig.write('POST', '/routes/gone/plugins', { name: 'proxy-cache', config });
    assert.equal((await ask('/gone/a')).cache, 'Miss');
    await rig.write('PATCH', '/services/gone', { port: 1 });
    const stale = await ask('/gone/a');
    assert.deepEqual([stale.status, stale.text], [200, '"old"']);
    assert.equal((await ask('/gone/b')).status, 502);
  });
});

describe('the Admin API', () => {
  const admin = (method: string, path: string) => rig.gateway.admin(method, path);

  it('shows and removes what is kept, by its key', async () => {
    script = () => answer('{"a":"b"}', `${json}X-A: 1\r\nX-A: 2\r\n`);
    const { key } = await ask('/plain/admin');
    const id = plugins.get('plain');
    for (const path of [`/proxy-cache/${key}`, `/proxy-cache/${id}/caches/${key}`]) {
      const shown = await admin('GET', path);
      assert.equal(shown.status, 200);
      const { status, body, body_len, headers } = shown.body;
      assert.deepEqual([status, body, body_len], [200, '{"a":"b"}', 9]);
      assert.deepEqual((headers as Readonly<Record<string, unknown>>)['X-A'], ['1', '2']);
      assert.equal((await admin('DELETE', path)).status, 204);
      assert.equal((await admin('GET', path)).status, 404);
      assert.equal((await admin('DELETE', path)).status, 404);
      assert.equal((await ask('/plain/admin')).cache, 'Miss');
    }
    const other = plugins.get('heeding');
    assert.equal((await admin('GET', `/proxy-cache/${other}/caches/${key}`)).status, 404);
    assert.equal((await admin('GET', '/proxy-cache/nonsense')).status, 404);
    assert.equal((await admin('GET', `/proxy-cache/nonsense/caches/${key}`)).status, 404);
  });

  it('removes by tag, by prefix, and of one instance', async () => {
    const paths = ['/plain/purge/a', '/plain/purge/b', '/plain/c', '/heeding/purge/a'];
    const fill = async () => {
      for (const path of paths) await ask(path);
    };
    script = ({ target }) =>
      answer('1', `${json}Cache-Control: max-age=60\r\nSurrogate-Key: all ${target.split('/').at(-1)}\r\n`);
    const left = async () => (await Promise.all(paths.map((path) => ask(path)))).map(({ cache }) => cache);
    await fill();
    assert.deepEqual((await admin('DELETE', '/proxy-cache?tag=a')).body, { purged: 2 });
    assert.deepEqual(await left(), ['Miss', 'Hit', 'Hit', 'Miss']);
    const prefix = encodeURIComponent(`${rig.gateway.proxyUrl}/plain/purge/`);
    assert.deepEqual((await admin('DELETE', `/proxy-cache?prefix=${prefix}`)).body, { purged: 2 });
    assert.deepEqual(await left(), ['Miss', 'Miss', 'Hit', 'Hit']);
    const id = plugins.get('plain');
    assert.deepEqual((await admin('DELETE', `/proxy-cache?tag=all&plugin=${id}`)).body, { purged: 3 });
    assert.deepEqual(await left(), ['Miss', 'Miss', 'Miss', 'Hit']);
    assert.equal((await admin('DELETE', `/proxy-cache?plugin=${id}`)).status, 204);
    assert.deepEqual(await left(), ['Miss', 'Miss', 'Miss', 'Hit']);
    assert.equal((await admin('DELETE', '/proxy-cache')).status, 204);
    assert.deepEqual(await left(), ['Miss', 'Miss', 'Miss', 'Miss']);
  });

  it('refuses what could be read in two ways', async () => {
    for (const query of ['tag=a&prefix=b', 'tag=', 'prefix=']) {
      assert.equal((await admin('DELETE', `/proxy-cache?${query}`)).status, 400, query);
    }
    const slip = await admin('DELETE', '/proxy-cache?perfix=http://a.example/');
    assert.deepEqual([slip.status, slip.body], [400, { message: "unknown query argument 'perfix'" }]);
    assert.equal((await admin('DELETE', '/proxy-cache?plugin=7f6b8c1e-0000-4000-8000-000000000000')).status, 404);
  });
});

function gate(): { readonly open: Promise<void>; readonly let: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: promise, let: resolve };
}
