import assert from 'node:assert/strict';
import type { ContractCase, ContractRig } from '../contract.ts';

const versions = [false, true] as const;
const mebibyte = 1_048_576;
/** No text in UTF-8, and no JSON or XML. */
const garbage = Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28, 0x80, 0x0d, 0x0a]);
const types = ['text/plain', 'application/json', 'application/xml', 'application/x-www-form-urlencoded', 'no type'];

export const bodies: readonly ContractCase[] = [
  {
    name: 'plain requests over HTTP/1.1 and HTTP/2',
    async run(rig) {
      for (const http2 of versions) {
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PURGE']) {
          await expectWhole(rig, { method, http2 });
        }
      }
    },
  },
  {
    name: 'HEAD, 204 and 304 have no body',
    async run(rig) {
      for (const http2 of versions) {
        rig.gateway.backend.onRequest = () => ({ headers: { 'content-type': 'application/json' }, body: '{"a":1}' });
        const head = await rig.answer({ method: 'HEAD', path: '/head', http2 });
        assert.equal(head.body, '', 'HEAD was answered with a body');
        for (const status of [204, 304]) {
          rig.gateway.backend.onRequest = () => ({ status, headers: { etag: '"1"' } });
          const answer = await rig.answer({ path: `/${status}`, http2 });
          if (answer.status === status) assert.equal(answer.body, '', `${status} was answered with a body`);
        }
      }
    },
  },
  {
    name: 'empty and huge bodies of requests',
    async run(rig) {
      for (const http2 of versions) {
        await expectWhole(rig, { method: 'POST', body: '', http2 });
        await expectWhole(rig, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '', http2 });
        const huge = Buffer.alloc(3 * mebibyte, 'a');
        await expectWhole(rig, { method: 'POST', body: huge, http2 });
        await expectWhole(rig, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: [huge],
          http2,
        });
      }
    },
  },
  {
    name: 'empty and huge bodies of answers',
    async run(rig) {
      const huge = Buffer.alloc(3 * mebibyte, 'b');
      for (const type of types) {
        rig.gateway.backend.onRequest = () => ({ headers: { 'content-type': type }, body: '' });
        await expectWhole(rig, { path: '/empty' });
        rig.gateway.backend.onRequest = () => ({ headers: { 'content-type': type }, body: huge });
        await expectWhole(rig, { path: '/huge', http2: type === 'text/plain' });
      }
    },
  },
  {
    name: 'bodies in single bytes, chunked, with trailers',
    async run(rig) {
      const text = '{"name":"Ada","list":[1,2,3],"deep":{"a":"b"}}';
      rig.gateway.backend.onRequest = () => ({
        headers: { 'content-type': 'application/json' },
        body: [...text],
        trailers: { 'x-trailer': 'end' },
      });
      for (const http2 of versions) {
        await expectWhole(rig, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: [...text],
          http2,
        });
      }
    },
  },
  {
    name: 'bytes that are no UTF-8, and bodies that are not of their type',
    async run(rig) {
      for (const type of types) {
        for (const body of [
          garbage,
          Buffer.from('{"a":'),
          Buffer.from('<a><b></a>'),
          Buffer.from('a=%ff&__proto__=1'),
        ]) {
          const headers = { 'content-type': type };
          rig.gateway.backend.onRequest = () => ({ headers, body });
          await expectWhole(rig, { method: 'POST', headers, body });
        }
      }
    },
  },
  {
    name: 'content codings that are wrong',
    async run(rig) {
      for (const coding of ['gzip', 'br', 'zstd', 'deflate', 'unheard-of', '']) {
        const headers = { 'content-type': 'application/json', 'content-encoding': coding };
        rig.gateway.backend.onRequest = () => ({ headers, body: garbage });
        await expectWhole(rig, { method: 'POST', headers, body: garbage });
      }
    },
  },
];

/** A whole answer, of whichever status: the plugin may refuse it. */
async function expectWhole(rig: ContractRig, request: Parameters<ContractRig['answer']>[0]): Promise<void> {
  const answer = await rig.answer(request);
  assert.ok(answer.status >= 200 && answer.status < 600, `status ${answer.status}`);
  assert.notEqual(answer.status, 500, `an internal error: ${answer.body}`);
}
