import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import preFunction from './index.ts';

const modes = ['on', 'sandbox'] as const;
const at = (untrustedFunctions: 'off' | 'sandbox' | 'on', config: Readonly<Record<string, unknown>> = {}) =>
  testPlugin(preFunction, { settings: { untrustedFunctions }, config });

async function refusal(
  config: Readonly<Record<string, unknown>>,
  mode: 'off' | 'sandbox' | 'on' = 'on',
): Promise<string> {
  const checked = await at(mode).check(config);
  assert.equal(checked.ok, false, 'it was accepted');
  return checked.ok ? '' : checked.message;
}

describe('a configuration is refused', () => {
  it('when functions are off, with what to set', async () => {
    assert.match(await refusal({ access: ['(context) => {}'] }, 'off'), /set untrusted_lua = sandbox/);
    assert.match(await refusal({ access: ['(context) => {}'] }, 'off'), /config: pre-function is off/);
  });

  it('when it has no function', async () => {
    for (const mode of ['off', 'on'] as const) {
      assert.match(await refusal({}, mode), /at least one of these fields must be non-empty/);
    }
  });

  it('for a syntax error, with the index, the line and the column', async () => {
    const message = await refusal({ access: ['() => {}', '(context) => {\n  context.;\n}'] });
    assert.match(
      message,
      /config\.access: \{\s*\[2\] = "error parsing pre-function: line 2, column 11: Unexpected token/,
    );
    assert.match(await refusal({ log: ['() => { x.y z }'] }), /line 1, column 13: Unexpected identifier 'z'/);
    assert.match(await refusal({ log: ['() => {'] }), /the end of the function is missing/);
  });

  it('for statements, with the function to write', async () => {
    assert.match(
      await refusal({ access: ["context.upstream.setHeader('x', 'y')"] }),
      /not a function: write \(context\) => \{ context\.upstream\.setHeader\('x', 'y'\) \}/,
    );
  });

  it('for Lua, with what to write instead', async () => {
    for (const [lua, expected] of [
      ['kong.response.exit(403, "no")', 'Instead of kong.response.exit write return replyJson'],
      ['local x = kong.request.get_header("a")\nif x then\n ngx.exit(1)\nend', 'write context.request.header(name)'],
      ['return function() n = n + 1 end', 'this is Lua'],
      ['-- a comment\nngx.exit(403)', 'this is Lua'],
      ["local cjson = require 'cjson'", 'this is Lua'],
    ] as const) {
      const message = await refusal({ access: [lua] });
      assert.ok(message.includes('this is Lua; write a JavaScript function') && message.includes(expected), message);
    }
  });

  it('for functions of WebSocket frames, and accepts Kong’s empty lists', async () => {
    assert.match(await refusal({ access: ['() => {}'], ws_close: ['() => {}'] }), /ws_close: functions cannot run/);
    const empty = { ws_handshake: [], ws_client_frame: [], ws_upstream_frame: [], ws_close: [], certificate: [] };
    assert.equal((await at('on').check({ access: ['() => {}'], ...empty })).ok, true);
  });

  it('beyond the limits', async () => {
    assert.match(await refusal({ access: Array(17).fill('() => {}') }), /length must be at most 16/);
    assert.match(await refusal({ access: [`() => { /*${'x'.repeat(65_536)}*/ }`] }), /length must be at most 65536/);
  });

  it('for a certificate function in the sandbox', async () => {
    assert.match(await refusal({ certificate: ['() => null'] }, 'sandbox'), /needs untrusted_lua = on/);
  });
});

it('an instance that was stored does not run when functions are off', () => {
  const tools = { settings: { untrustedFunctions: 'off' } } as Parameters<typeof preFunction.setup>[1];
  const config = { certificate: [], rewrite: [], access: ['() => {}'], header_filter: [], body_filter: [], log: [] };
  assert.throws(() => preFunction.setup(config, tools), /pre-function does not run: untrusted_lua is off on this node/);
});

for (const mode of modes) {
  describe(`with untrusted_lua = ${mode}`, () => {
    it('functions run in their order, and a reply ends them', async () => {
      const plugin = at(mode, {
        access: [
          "({ request, upstream }) => { upstream.setHeader('X-First', request.header('x-in') ?? 'none'); };",
          "({ request }) => request.queryArgument('stop') !== null && refuse(403, 'stopped')",
          '// a comment first\nfunction (context) { context.upstream.setHeader("X-Third", context.request.path) } // and last',
        ],
      });
      const passed = await plugin.request({ path: '/a?b=1', headers: { 'X-In': 'in' } });
      assert.deepEqual(passed.upstream?.headers['x-first'], ['in']);
      assert.deepEqual(passed.upstream?.headers['x-third'], ['/a']);
      const stopped = await plugin.request({ path: '/?stop' });
      assert.equal(stopped.response.status, 403);
      assert.equal(stopped.upstream, null);
      assert.deepEqual(plugin.logLines, []);
    });

    it('replies have their status, headers and body', async () => {
      const plugin = at(mode, {
        access: [
          `({ request }) => request.path === '/json'
            ? replyJson(201, { a: 1 }, { 'X-A': 'a' })
            : reply({ status: 202, headers: { 'Content-Type': 'text/plain' }, body: 'pong' })`,
        ],
      });
      const json = await plugin.request({ path: '/json' });
      assert.equal(json.response.status, 201);
      assert.equal(json.response.body, '{"a":1}');
      assert.deepEqual(json.response.headers['x-a'], ['a']);
      assert.deepEqual(json.response.headers['content-type'], ['application/json; charset=utf-8']);
      const text = await plugin.request({ path: '/' });
      assert.equal(text.response.body, 'pong');
      assert.deepEqual(text.response.headers['content-type'], ['text/plain']);
    });

    it('a function that is made by a function keeps its state', async () => {
      const plugin = at(mode, {
        header_filter: ["(() => { let n = 0; return ({ response }) => response.setHeader('X-N', String(++n)); })()"],
      });
      await plugin.request();
      assert.deepEqual((await plugin.request()).response.headers['x-n'], ['2']);
    });

    it('values go from one phase to the next', async () => {
      const plugin = at(mode, {
        log: ["(context) => log.info('done', { id: context.request.id, ip: context.record().client_ip })"],
        header_filter: [
          "(() => { const key = contextKey('k'); return (c) => { c.set(key, { a: [1] }); c.response.setHeader('X-K', String(c.get(key).a[0])); }; })()",
        ],
      });
      const { response } = await plugin.request();
      assert.deepEqual(response.headers['x-k'], ['1']);
      assert.deepEqual(
        plugin.logLines.map(({ message }) => message),
        ['done'],
      );
    });

    it('an exception names the function and the line', async () => {
      const plugin = at(mode, { access: ['() => {}', '(context) => {\n  const nothing = null;\n  nothing.x;\n}'] });
      assert.equal((await plugin.request()).response.status, 500);
      assert.match(
        String(plugin.logLines[0]?.fields['error']),
        /^Error: pre-function access\[2\], line 3: .*reading 'x'/,
      );
    });

    it('an exception before the first request names the function', async () => {
      await assert.rejects(
        at(mode, { access: ['(missing)'] }).request(),
        /pre-function access\[1\], line 1: .*missing is not defined/,
      );
      await assert.rejects(
        at(mode, { access: ['(1)'] }).request(),
        /pre-function access\[1\] is not a function but number/,
      );
    });

    it('bodies of answers are changed piece by piece', async () => {
      const plugin = at(mode, {
        body_filter: [
          "(context, text, last) => text.replaceAll('a', 'b') + (last ? '!' : '')",
          '(context, text) => text.replaceAll("b", "ß")',
        ],
      });
      const { response } = await plugin.request({
        backend: { body: ['ban', 'ana ', Buffer.from([0xc3]), Buffer.from([0xa9])] },
      });
      assert.equal(response.body, 'ßßnßnß é!');
    });

    it('a body filter may drop a body, and leave another one as it is', async () => {
      const dropped = at(mode, { body_filter: ['() => null'] });
      assert.equal((await dropped.request({ backend: { body: 'x' } })).response.body, '');
      const kept = at(mode, { body_filter: ['() => undefined'] });
      const bytes = Buffer.from([0xff, 0xc3, 0x28, 0xe2, 0x82]);
      assert.deepEqual((await kept.request({ backend: { body: [bytes] } })).response.bytes, bytes);
    });

    it('a body with a content coding passes unchanged', async () => {
      const plugin = at(mode, { body_filter: ["() => 'changed'"] });
      const answer = { headers: { 'Content-Encoding': 'br' }, body: 'coded' };
      assert.equal((await plugin.request({ backend: answer })).response.body, 'coded');
    });

    it('the conversions are there', async () => {
      const plugin = at(mode, {
        access: [
          "() => replyJson(200, [encode.base64('é'), encode.fromBase64('w6k'), encode.sha256(''), encode.hmacSha256('k', 't')])",
        ],
      });
      const { response } = await plugin.request();
      assert.deepEqual(JSON.parse(String(response.body)), [
        'w6k=',
        'é',
        createHash('sha256').digest('hex'),
        createHmac('sha256', 'k').update('t').digest('hex'),
      ]);
    });

    it('an object that is no reply is an error', async () => {
      const plugin = at(mode, { access: ['() => ({ status: 403 })'] });
      assert.equal((await plugin.request()).response.status, 500);
      assert.match(String(plugin.logLines[0]?.fields['error']), /pre-function access\[1\].* no reply/);
    });
  });
}

describe('with untrusted_lua = on', () => {
  it('functions of access may wait', async () => {
    const plugin = at('on', {
      access: [
        "async ({ upstream }) => { await null; upstream.setHeader('X-A', '1'); }",
        "async ({ request }) => { await null; if (request.query === 'no') return refuse(403, 'no'); }",
        "({ upstream }) => upstream.setHeader('X-B', '2')",
      ],
    });
    const { upstream } = await plugin.request();
    assert.deepEqual([upstream?.headers['x-a'], upstream?.headers['x-b']], [['1'], ['2']]);
    assert.equal((await plugin.request({ path: '/?no' })).response.status, 403);
  });

  it('a rejection names the function and the line', async () => {
    const plugin = at('on', { access: ['async () => {\n await null;\n throw new TypeError("late");\n}'] });
    assert.equal((await plugin.request()).response.status, 500);
    assert.match(
      String(plugin.logLines[0]?.fields['error']),
      /^Error: pre-function access\[1\], line 3: TypeError: late/,
    );
  });

  it('other phases are synchronous', async () => {
    const plugin = at('on', { header_filter: ['async () => { throw new Error("unhandled") }'] });
    assert.equal((await plugin.request()).response.status, 200);
    assert.match(String(plugin.logLines[0]?.fields['error']), /header_filter\[1\] returned a promise/);
  });

  it('a function reads the body of a request', async () => {
    const plugin = at('on', {
      access: [
        "async (context) => { context.upstream.setHeader('X-B', Buffer.from(await context.decodedBody()).toString()) }",
      ],
    });
    const { upstream } = await plugin.request({ method: 'POST', body: 'hello' });
    assert.deepEqual(upstream?.headers['x-b'], ['hello']);
  });

  it('a function loads modules of Node and of the kit, and no others', async () => {
    const plugin = at('on', {
      access: [
        `(() => { const { createHash } = require('node:crypto'); const { parseJson } = require('sluicegate/plugin-kit/json');
          return () => replyJson(200, [createHash('sha256').update('').digest('hex').slice(0, 4), parseJson('{"a":1}')]); })()`,
      ],
    });
    assert.equal((await plugin.request()).response.body, '["e3b0",{"a":1}]');
    await assert.rejects(at('on', { access: ["(require('zod'))"] }).request(), /require\('zod'\): functions can load/);
  });
});

describe('with untrusted_lua = sandbox', () => {
  it('a function reads the body of a request as text, and replaces it', async () => {
    const plugin = at('sandbox', {
      access: ['(context) => { context.upstream.setBody(JSON.stringify({ was: JSON.parse(context.bodyText()) })) }'],
    });
    const { upstream } = await plugin.request({ method: 'POST', body: '[1]' });
    assert.equal(upstream?.body, '{"was":[1]}');
  });

  it('counts and logs', async () => {
    const plugin = at('sandbox', { access: ["() => { count('seen'); count('bytes', 5); log.warn('x', { a: 1 }); }"] });
    await plugin.request();
    assert.deepEqual(Object.fromEntries(plugin.counts), { 'pre-function.seen': 1, 'pre-function.bytes': 5 });
    assert.deepEqual(plugin.logLines, [{ level: 'warn', message: 'x', fields: plugin.logLines[0]?.fields }]);
    assert.equal(plugin.logLines[0]?.fields['a'], 1);
  });

  it('refuses names of counters that could come from requests', async () => {
    const plugin = at('sandbox', { access: ['({ request }) => count(request.query)'] });
    for (let name = 0; name < 70; name++) await plugin.request({ path: `/?n${name}` });
    await plugin.request({ path: '/?a=1' });
    assert.equal(plugin.counts.size, 64);
    assert.equal(plugin.logLines.length, 7);
    assert.match(String(plugin.logLines[0]?.fields['error']), /more than 64 counters/);
    assert.match(String(plugin.logLines[6]?.fields['error']), /'a=1' is not the name of a counter/);
  });
});
