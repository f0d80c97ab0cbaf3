import assert from 'node:assert/strict';
import { frame } from '../../src/plugins/grpc-web/frames.ts';
import { startBackend } from '../support/backend.ts';
import { encodeMessage, startGrpcBackend } from '../support/grpc.ts';
import { echoed, type FirstTry, type Setting } from './first-try.ts';

const json = { 'Content-Type': 'application/json' };

async function post({ ask }: Setting): Promise<void> {
  const answer = await ask('/', { method: 'POST', headers: json, body: '{"name":"Ada"}' });
  assert.deepEqual(JSON.parse(echoed(answer).body), { name: 'Ada' });
}

const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } };
const document = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  paths: { '/openapi/{id}': { get: { parameters: [id], responses: { 200: { description: 'An item.' } } } } },
});

/** A backend that returns a list of users, or one of them. */
async function userList({ resources }: Setting) {
  const users = [1, 2, 3].map((id) => ({ id, name: `user-${id}` }));
  const backend = await startBackend({
    handler: ({ url }, response) => {
      const list = new URL(url ?? '/', 'http://x').pathname === '/';
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(list ? { data: users } : users[0]));
    },
  });
  return { url: resources.use(backend).url };
}

export const bodies: Readonly<Record<string, FirstTry>> = {
  aggregate: {
    config: { requests: [{ name: 'user', path: '/users/42' }] },
    works: async ({ ask }) => {
      const { status, body } = await ask();
      assert.equal(status, 200, body);
      assert.equal(JSON.parse(body).user.url, '/users/42');
    },
  },
  'body-validator': { config: { schema: '{"type":"object"}' }, works: post },
  'request-validator': { config: { body_schema: '[{"name":{"type":"string"}}]' }, works: post },
  openapi: {
    config: { document },
    works: async ({ ask }) => {
      echoed(await ask('/42'));
      assert.equal((await ask('/42/unknown')).status, 404);
    },
  },
  'data-masking': {
    config: { rules: [{ name: 'mail', kinds: ['email'] }] },
    works: async ({ ask }) => {
      const answer = await ask('/', { method: 'POST', headers: json, body: '{"mail":"ada@example.com"}' });
      assert.equal(answer.status, 200, answer.body);
      assert.doesNotMatch(answer.body, /ada@example\.com/);
    },
  },
  pagination: {
    service: userList,
    config: { backend: { style: 'page' } },
    works: async ({ ask }) => {
      const list = await ask('/');
      assert.equal(list.status, 200, list.body);
      assert.equal(JSON.parse(list.body).data.length, 3);
      assert.match(list.headers['link'] ?? '', /rel="?first"?/);
      const one = await ask('/1');
      assert.deepEqual([one.status, one.body], [200, '{"id":1,"name":"user-1"}']);
    },
  },
  compression: {
    works: async ({ ask }) => {
      const answer = await ask('/', { method: 'POST', headers: json, body: JSON.stringify('x'.repeat(5000)) });
      echoed(answer);
      assert.ok(answer.headers['content-encoding'] !== undefined, JSON.stringify(answer.headers));
    },
  },
  'request-transformer': {},
  'response-transformer': {},
  'xml-json': {
    config: { backend: 'json' },
    works: async ({ ask }) => {
      echoed(await ask());
      const answer = await ask('/', { headers: { Accept: 'application/xml' } });
      assert.equal(answer.status, 200, answer.body);
      assert.match(answer.body, /<method>GET<\/method>/);
    },
  },
  'grpc-web': {
    service: async ({ resources }) => {
      const unary = (call: { request: { text: string } }, done: (error: null, value: object) => void): void =>
        done(null, { text: `${call.request.text}!` });
      const { port } = resources.use(await startGrpcBackend({ unary }));
      return { url: null, protocol: 'grpc', host: '127.0.0.1', port };
    },
    // The path selects the gRPC method.
    route: { paths: ['/echo.v1.Echo/'], strip_path: false },
    works: async ({ gateway }) => {
      const body = new Uint8Array(frame(0, encodeMessage({ text: 'hello' })));
      const headers = { 'Content-Type': 'application/grpc-web' };
      const answer = await fetch(`${gateway.proxyUrl}/echo.v1.Echo/Unary`, { method: 'POST', headers, body });
      assert.equal(answer.status, 200);
      assert.match(await answer.text(), /hello![\s\S]*grpc-status: ?0/i);
    },
  },
};
