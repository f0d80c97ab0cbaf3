import assert from 'node:assert/strict';
import type { ContractCase } from '../contract.ts';

/** Names that every object has. */
const inherited = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];

export const hostile: readonly ContractCase[] = [
  {
    name: 'names that every object has, in headers, queries and bodies',
    async run(rig) {
      for (const name of inherited) {
        const body = `{"${name}":{"polluted":1},"a":[{"${name}":1}]}`;
        rig.gateway.backend.onRequest = () => ({ headers: { 'content-type': 'application/json', [name]: 'x' }, body });
        const headers = { accept: name, [name]: '1', 'content-type': 'application/json', 'accept-encoding': name };
        const answer = await rig.answer({ method: 'POST', path: `/${name}?${name}=1&${name}[a]=2`, headers, body });
        assert.notEqual(answer.status, 500, `an internal error with ${name}: ${answer.body}`);
        assert.equal(({} as { polluted?: unknown }).polluted, undefined, 'Object.prototype was polluted');
      }
    },
  },
  {
    name: 'Accept in every form',
    async run(rig) {
      const forms = [
        '',
        '*',
        '*/*;q=nonsense',
        'text/html;q=0',
        'a/b;c="d;e',
        ';;;',
        `${'a/b,'.repeat(500)}c/d`,
        'application/*',
      ];
      for (const accept of forms) await rig.answer({ headers: { accept } });
      rig.gateway.backend.onRequest = () => 'reset';
      for (const accept of forms) await rig.answer({ path: '/failed', headers: { accept } });
    },
  },
  {
    name: 'floods of headers and arguments',
    async run(rig) {
      const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`x-flood-${at}`, `${at}`]));
      const repeated = { 'x-same': Array.from({ length: 60 }, (_, at) => `${at}`), cookie: 'a=b;'.repeat(400) };
      const long = { 'x-long': 'l'.repeat(6_000) };
      const query = Array.from({ length: 700 }, (_, at) => `a${at % 7}=${at}`).join('&');
      for (const headers of [many, repeated, long]) {
        for (const http2 of [false, true]) await rig.answer({ headers, path: `/?${query}`, http2 });
      }
      rig.gateway.backend.onRequest = () => ({ headers: { ...many, 'set-cookie': repeated['x-same'] }, body: '{}' });
      await rig.answer({ path: '/flooded' });
    },
  },
  {
    name: 'bytes above ASCII in paths, queries and headers',
    async run({ gateway, head }) {
      const paths = [
        '/%ff%fe',
        '/a?b=%80%81&c=%',
        '/%2e%2e/%2f',
        '/a;b=c?d=%00',
        '/?=&&=a&a',
        '/a%0d%0aX-Injected:%201',
      ];
      for (const path of paths) {
        const raw = gateway.connect();
        raw.write(`${head('GET', path)}X-Bytes: \xff\xe9\x80\r\nCookie: a=\xff; b\r\nConnection: close\r\n\r\n`);
        const text = await gateway.clock.until(raw.closed());
        assert.match(text, /^HTTP\/1\.1 [2-5]\d\d /, `no answer to ${path}`);
        assert.doesNotMatch(text, /^HTTP\/1\.1 500 /, `an internal error with ${path}`);
        assert.doesNotMatch(text, /\r\nX-Injected:/i, 'a header was injected');
      }
    },
  },
  {
    name: 'credentials in every form',
    async run(rig) {
      const values = [
        '',
        'Basic',
        'Basic !!!',
        'Basic Og==',
        'Bearer',
        'Bearer a.b.c',
        'Bearer \u00ff',
        'hmac',
        `Bearer ${'x'.repeat(8_000)}`,
      ];
      for (const authorization of values) {
        const answer = await rig.answer({ headers: { authorization, cookie: `session=${authorization}` } });
        assert.notEqual(answer.status, 500, `an internal error with ${authorization.slice(0, 20)}`);
      }
    },
  },
];
