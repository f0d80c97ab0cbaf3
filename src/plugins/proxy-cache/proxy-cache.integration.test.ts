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
        // Responses may be sent in any order.
        void Promise.resolve(script(request)).then((bytes) => connection.write(Buffer.from(bytes, 'latin1')));
      }
    },
    settings: { workers: 2, plugins: ['proxy-cache'] },
  });
  await cached('plain', {});
  await cached('cache-control', { cache_control: true });
  await cached('long-wait', { coalescing_wait: 300 });
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

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly cache: string | null;
  readonly key: string;
}

/** On a separate connection, so that all workers get some requests. */
async function send(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Reply> {
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

const countAt = (path: string): number => rig.backend.requests.filter(({ target }) => target.startsWith(path)).length;

describe('the cache', () => {
  it('is shared by all workers', async () => {
    script = () => answer(`${++serial}`, json);
    const first = await send('/plain/workers');
    assert.equal(first.cache, 'Miss');
    const others = await times(20, () => send('/plain/workers'));
    assert.deepEqual(new Set(others.map(({ cache, text }) => `${cache} ${text}`)), new Set([`Hit ${first.text}`]));
    assert.equal(countAt('/plain/workers'), 1);
  });

  it('serves encoded bodies unchanged', async () => {
    const body = gzipSync('x'.repeat(5000)).toString('latin1');
    script = () => answer(body, `${json}Content-Encoding: gzip\r\nVary: Accept-Encoding\r\nETag: "gz"\r\n`);
    for (const status of ['Miss', 'Hit', 'Hit']) {
      const response = await send('/plain/coded', { 'accept-encoding': 'gzip' });
      assert.deepEqual([response.cache, response.text.length, response.headers.get('etag')], [status, 5000, '"gz"']);
    }
  });

  it('serves large bodies unchanged', async () => {
    const body = JSON.stringify({ text: 'abc'.repeat(300_000) });
    script = () => answer(body, json);
    for (const status of ['Miss', 'Hit']) {
      const response = await send('/plain/large');
      assert.equal(response.cache, status);
      assert.ok(response.text === body);
    }
  });

  it('reports an upstream latency of 0 for a hit', async () => {
    script = () => answer('1', json);
    await send('/plain/latency');
    const { headers } = await send('/plain/latency');
    assert.equal(headers.get('x-kong-upstream-latency'), '0');
  });
});

describe('coalescing', () => {
  it('sends one request of a hundred to the backend, on all workers', async () => {
    const held = gate();
    script = async () => {
      await held.open;
      return answer(`${++serial}`, json);
    };
    const waiting = times(100, () => send('/long-wait/hundred'));
    await until(() => countAt('/long-wait/hundred') === 1);
    // The others have arrived, and wait.
    await rig.gateway.admin('GET', '/status');
    held.release();
    const replies = await waiting;
    assert.equal(countAt('/long-wait/hundred'), 1);
    assert.equal(new Set(replies.map(({ text }) => text)).size, 1);
    assert.equal(replies.filter(({ cache }) => cache === 'Miss').length, 1);
  });

  it('releases all requests if the response must not be stored', async () => {
    const held = gate();
    const all = gate();
    let received = 0;
    script = async ({ connection }) => {
      const headers = `${json}Cache-Control: no-store\r\n`;
      if (++received === 1) {
        // Its headers forbid storing it. It ends only after all requests have arrived.
        await held.open;
        connection.write(`HTTP/1.1 200 OK\r\n${headers}Content-Length: 1\r\n\r\n`);
        await all.open;
        return '0';
      }
      if (received === 20) all.release();
      await all.open;
      return answer(`${++serial}`, headers);
    };
    const waiting = times(20, () => send('/long-wait/not-kept'));
    await until(() => received === 1);
    held.release();
    const replies = await waiting;
    assert.equal(new Set(replies.map(({ text }) => text)).size, 20);
    assert.equal(countAt('/long-wait/not-kept'), 20);
  });

  it('continues with another request if the first client disconnects', async () => {
    const first = gate();
    script = async () => {
      if (countAt('/long-wait/gone') === 1) await first.open;
      return answer(`${++serial}`, json);
    };
    using client = await openClient(rig.port);
    client.write('GET /long-wait/gone HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    await until(() => countAt('/long-wait/gone') === 1);
    const host = `127.0.0.1`;
    const other = (async () => {
      using second = await openClient(rig.port);
      second.write(`GET /long-wait/gone HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      return await second.readResponse();
    })();
    client.reset();
    assert.equal((await other).status, 200);
    first.release();
  });
});

describe('stale responses', () => {
  it('are served while they are refreshed in the background', async () => {
    script = (request) => {
      const headers = `${json}Cache-Control: max-age=0, stale-while-revalidate=60\r\nETag: "1"\r\n`;
      return request.get('if-none-match') === '"1"'
        ? 'HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=60\r\nETag: "1"\r\nX-Confirmed: yes\r\n\r\n'
        : answer('"old"', headers);
    };
    assert.equal((await send('/cache-control/refreshed')).cache, 'Miss');
    const stale = await send('/cache-control/refreshed');
    assert.deepEqual([stale.cache, stale.text], ['Hit', '"old"']);
    await until(async () => (await send('/cache-control/refreshed')).headers.get('x-confirmed') === 'yes');
    assert.equal(countAt('/cache-control/refreshed'), 2);
  });

  it('are served while the backend is unreachable', async () => {
    script = () => answer('"old"', `${json}Cache-Control: max-age=0, stale-if-error=60\r\nETag: "1"\r\n`);
    await rig.write('PUT', '/services/gone', { url: rig.backend.url, retries: 0 });
    await rig.write('PUT', '/services/gone/routes/gone', { paths: ['/gone'], strip_path: false });
    const config = { strategy: 'memory', cache_control: true };
    await rig.write('POST', '/routes/gone/plugins', { name: 'proxy-cache', config });
    assert.equal((await send('/gone/a')).cache, 'Miss');
    await rig.write('PATCH', '/services/gone', { port: 1 });
    const stale = await send('/gone/a');
    assert.deepEqual([stale.status, stale.text], [200, '"old"']);
    assert.equal((await send('/gone/b')).status, 502);
  });
});

describe('the Admin API', () => {
  const admin = (method: string, path: string) => rig.gateway.admin(method, path);

  it('shows and removes a response by its key', async () => {
    script = () => answer('{"a":"b"}', `${json}X-A: 1\r\nX-A: 2\r\n`);
    const { key } = await send('/plain/admin');
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
      assert.equal((await send('/plain/admin')).cache, 'Miss');
    }
    const other = plugins.get('cache-control');
    assert.equal((await admin('GET', `/proxy-cache/${other}/caches/${key}`)).status, 404);
    assert.equal((await admin('GET', '/proxy-cache/nonsense')).status, 404);
    assert.equal((await admin('GET', `/proxy-cache/nonsense/caches/${key}`)).status, 404);
  });

  it('purges by tag, by prefix and by instance', async () => {
    const paths = ['/plain/purge/a', '/plain/purge/b', '/plain/c', '/cache-control/purge/a'];
    const fill = async () => {
      for (const path of paths) await send(path);
    };
    script = ({ target }) =>
      answer('1', `${json}Cache-Control: max-age=60\r\nSurrogate-Key: all ${target.split('/').at(-1)}\r\n`);
    const left = async () => (await Promise.all(paths.map((path) => send(path)))).map(({ cache }) => cache);
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

  it('rejects ambiguous and unknown arguments', async () => {
    for (const query of ['tag=a&prefix=b', 'tag=', 'prefix=']) {
      assert.equal((await admin('DELETE', `/proxy-cache?${query}`)).status, 400, query);
    }
    const misspelt = await admin('DELETE', '/proxy-cache?perfix=http://a.example/');
    assert.deepEqual([misspelt.status, misspelt.body], [400, { message: "unknown query argument 'perfix'" }]);
    assert.equal((await admin('DELETE', '/proxy-cache?plugin=7f6b8c1e-0000-4000-8000-000000000000')).status, 404);
  });
});

function gate(): { readonly open: Promise<void>; readonly release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: promise, release: resolve };
}
