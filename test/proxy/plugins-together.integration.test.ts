import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openHttp2 } from '../support/http2-client.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { answer, type BackendRequest } from '../support/raw-backend.ts';
import { until } from '../support/until.ts';
import { openWebSocket } from '../support/websocket-client.ts';

type Config = Readonly<Record<string, unknown>>;

const json = 'Content-Type: application/json\r\n';
const memory = { dictionary_name: 'answers', size: '16m' };

let rig: Http2Rig;
let script: (request: BackendRequest) => string | null | Promise<string | null>;
let serial = 0;

/** Answers with what the backend received, and how many answers it sent before. */
const echo = ({ method, target, body }: BackendRequest): string =>
  answer(JSON.stringify({ serial: ++serial, method, target, body: body.toString() }), json);

before(async () => {
  rig = await startHttp2Rig({
    script: async (connection) => {
      for (;;) {
        const request = await connection.readRequest();
        const bytes = await script(request);
        if (bytes === null) connection.reset();
        else connection.write(bytes);
      }
    },
  });
});
after(() => rig.close());

/** A route `/<name>` with these plugins. */
async function route(name: string, plugins: Readonly<Record<string, Config>>): Promise<void> {
  await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`], strip_path: false });
  for (const [plugin, config] of Object.entries(plugins)) {
    await rig.write('POST', `/routes/${name}/plugins`, { name: plugin, config });
  }
}

const cache = (config: Config = {}): Config => ({ strategy: 'memory', memory, ...config });

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly cache: string | null;
}

async function ask(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Answer> {
  const response = await fetch(rig.gateway.proxyUrl + path, { headers, method });
  const { status } = response;
  return {
    status,
    headers: response.headers,
    text: await response.text(),
    cache: response.headers.get('x-cache-status'),
  };
}

const asked = (path: string): number => rig.backend.requests.filter(({ target }) => target.startsWith(path)).length;

describe('the cache and HTTP/2, where a body needs no length', () => {
  before(() => route('lengths', { 'proxy-cache': cache({ request_method: ['GET', 'HEAD', 'POST'] }) }));

  it('does not serve the answer to one body for another body', async () => {
    script = echo;
    await using client = await openHttp2(rig.port);
    for (const body of ['one', 'two', 'one']) {
      const got = await client.request('/lengths/post', { headers: { ':method': 'POST' }, body });
      assert.equal(JSON.parse(got.body.toString()).body, body);
    }
  });

  it('does not store the answer to a GET with a body', async () => {
    script = echo;
    await using client = await openHttp2(rig.port);
    const poison = await client.request('/lengths/get', { headers: { ':method': 'GET' }, body: 'poison' });
    assert.equal(JSON.parse(poison.body.toString()).body, 'poison');
    const got = await client.request('/lengths/get');
    assert.equal(JSON.parse(got.body.toString()).body, '');
    assert.equal(got.headers['x-cache-status'], 'Miss');
  });

  it('forwards a WebSocket to the backend', async () => {
    script = (request) => (request.get('upgrade') === undefined ? echo(request) : answer('', '', '403 Forbidden'));
    await ask('/lengths/socket');
    await assert.rejects(openWebSocket('HTTP/2', rig.gateway, '/lengths/socket'), /answered 403/);
  });
});

describe('the last good answers of a circuit breaker', () => {
  it('match the version that the client requested', async () => {
    await route('versions', {
      'api-versioning': {
        sources: ['header'],
        versions: [
          { name: '1', path_prefix: '/v1' },
          { name: '2', path_prefix: '/v2' },
        ],
      },
      'circuit-breaker': { fallback: 'stale', min_calls: 2, window: 2, pause: 30, pause_max: 30, per: ['service'] },
    });
    script = echo;
    const version = (name: string): Promise<Answer> => ask('/versions/page', { 'x-api-version': name });
    assert.equal(JSON.parse((await version('1')).text).target, '/v1/versions/page');
    script = () => answer('', '', '500 Internal Server Error');
    await until(async () => (await version('1')).status === 200);
    assert.equal((await version('2')).status, 503);
  });
});

describe('composed answers in the cache', () => {
  it('are composed again when stale, never replaced by the answer of the service', async () => {
    await route('composed', {
      'proxy-cache': cache({ cache_ttl: 1, stale_while_revalidate: 300, content_type: ['*/*'] }),
      aggregate: { requests: [{ name: 'part', path: '/composed-part' }] },
    });
    script = echo;
    const first = await ask('/composed/page');
    assert.equal(first.cache, 'Miss');
    const seen = new Set<string>();
    await until(async () => {
      const got = await ask('/composed/page');
      seen.add(got.text);
      return seen.size > 2;
    });
    for (const text of seen) assert.deepEqual(Object.keys(JSON.parse(text)), ['part']);
    assert.equal(asked('/composed/page'), 0);
  });
});

describe('a stale answer that later plugins also handle', () => {
  it('is renewed by one client, which also gets it when the backend fails', async () => {
    await route('turns', {
      'proxy-cache': cache({ cache_ttl: 1, stale_while_revalidate: 300 }),
      compression: { decompress_requests: true },
    });
    script = echo;
    const { text } = await ask('/turns/page');
    let open = (): void => {};
    const held = new Promise<void>((resolve) => {
      open = resolve;
    });
    script = async () => {
      await held;
      return answer('', '', '500 Internal Server Error');
    };
    let leader: Promise<Answer> = ask('/turns/page');
    // Until it is stale, no client revalidates it.
    await until(async () => {
      if (asked('/turns/page') > 1) return true;
      await leader;
      leader = ask('/turns/page');
      await until(async () => asked('/turns/page') > 1 || (await Promise.race([leader, null])) !== null);
      return asked('/turns/page') > 1;
    });
    const others = await Promise.all([ask('/turns/page'), ask('/turns/page')]);
    assert.deepEqual(
      others.map((one) => [one.status, one.cache, one.text]),
      [
        [200, 'Hit', text],
        [200, 'Hit', text],
      ],
    );
    open();
    const led = await leader;
    assert.deepEqual([led.status, led.text], [200, text]);
    assert.equal(asked('/turns/page'), 2);
  });
});

describe('answers of 205, which have no body with HTTP/2', () => {
  it('end correctly, from the backend and from the cache', async () => {
    await route('reset', { 'proxy-cache': cache({ response_code: [205] }) });
    script = () => answer('{"a":1}', json, '205 Reset Content');
    await using client = await openHttp2(rig.port);
    for (const status of ['Miss', 'Hit']) {
      const got = await client.request('/reset/page');
      assert.deepEqual([got.status, got.code, got.headers['x-cache-status']], [205, 0, status]);
      assert.equal(got.headers['content-length'], '0');
    }
  });
});

describe('a gRPC call', () => {
  it('that is redirected counts as failed', async () => {
    await rig.write('PUT', '/services/calls', {
      protocol: 'grpc',
      host: '127.0.0.1',
      port: rig.backend.port,
      path: null,
    });
    await rig.write('PUT', '/services/calls/routes/calls', { protocols: ['grpc'], paths: ['/calls.Service'] });
    await rig.write('POST', '/routes/calls/plugins', {
      name: 'redirect',
      config: { location: 'http://127.0.0.1/' },
    });
    await using client = await openHttp2(rig.port);
    const headers = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' };
    const got = await client.request('/calls.Service/Call', { headers, body: Buffer.alloc(5) });
    assert.equal(got.status, 301);
    assert.equal(got.headers['grpc-status'], '2');
  });
});
