import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from '../../../plugin-testing/index.ts';
import preFunction from '../../../plugins/pre-function/index.ts';

const settings = { untrustedFunctions: 'sandbox' } as const;

/** Runs the body of a function in the sandbox, as `access`; the request is answered with what it returns, as JSON. */
async function inSandbox(body: string): Promise<unknown> {
  const access = [`(context) => replyJson(200, ((leaks) => { ${body} })([]) ?? null)`];
  const plugin = testPlugin(preFunction, { settings, config: { access } });
  const { response } = await plugin.request({ path: '/?a=1', headers: { 'X-In': 'in' } });
  const lines = plugin.logLines.map(({ fields }) => String(fields['error']));
  assert.equal(response.status, 200, lines.join('\n'));
  return JSON.parse(String(response.body));
}

/** Code that is true for a value of another realm, or of one that runs code from texts. */
const isForeign = `
  const isForeign = (value) => {
    if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return false;
    let root = value;
    for (let next = Object.getPrototypeOf(root); next !== null; next = Object.getPrototypeOf(root)) root = next;
    if (root !== Object.prototype && root !== value) return true;
    try { return value.constructor.constructor('return process')().pid > 0; } catch { return false; }
  };`;

/** Ways to get hold of a value of the gateway. Each returns the values that it got. */
const attempts: Readonly<Record<string, string>> = {
  'the context': 'return [context, context.request, context.upstream, context.client, Object.getPrototypeOf(context)]',
  'functions of the context':
    'return [context.request.header, context.upstream.setHeader, context.get, context.bodyText]',
  'getters of the context': `return [Object.getOwnPropertyDescriptor(context.request, 'method').get]`,
  helpers: 'return [refuse, reply, replyJson, contextKey, log, log.info, count, encode, encode.base64]',
  results:
    'return [context.request.headers(), context.request.headerValues("x-in"), context.request.queryArguments(), context.route, context.service]',
  'a reply': 'return [refuse(400, "x"), reply({ status: 200 }), replyJson(200, {})]',
  'an error of the gateway': `try { context.upstream.setHeader('a\\nb', 'c') } catch (error) { return [error, error.cause, error.stack] }`,
  'an error of a call with a wrong value': `try { context.upstream.setTimeouts('x') } catch (error) { return [error] }
    try { context.upstream.removeCookies(1) } catch (error) { return [error] }`,
  'the stack of an error':
    'const error = new Error("x"); return [Object.getOwnPropertyDescriptor(error, "stack"), Object.getOwnPropertyDescriptor(error, "stack").get, error.stack]',
  'Error.prepareStackTrace, assigned': `try { Error.prepareStackTrace = (error, frames) => frames; } catch (error) { leaks.push(error) }
    return [...leaks, new Error('x').stack, Error.prepareStackTrace]`,
  'Error.prepareStackTrace, defined': `for (const target of [Error, TypeError, Error.prototype, globalThis]) {
      leaks.push(Reflect.defineProperty(target, 'prepareStackTrace', { value: (error, frames) => leaks.push(frames) }));
    }
    try { null.x } catch (error) { leaks.push(error.stack) }
    return leaks.filter((one) => one !== false)`,
  'Error.prepareStackTrace of a subclass': `class Mine extends Error { static prepareStackTrace(error, frames) { leaks.push(frames); return frames } }
    return [new Mine('x').stack, ...leaks]`,
  callers: `function mine() { try { return mine.caller } catch (error) { return error } }
    function other() { try { return arguments.callee } catch (error) { return error } }
    return [mine(), other()]`,
  this: 'return [function () { return this }(), (() => this)(), globalThis, Object.getPrototypeOf(globalThis), globalThis.constructor]',
  'arguments of conversions': `const spy = { toString(...given) { leaks.push(...given, new Error('x').stack); return 'x-in' }, [Symbol.toPrimitive](...given) { leaks.push(...given); return 'x-in' } };
    context.request.header(spy); context.log('a', { toJSON(...given) { leaks.push(...given); return 1 } }); return leaks`,
  'a proxy as an argument': `const handler = new Proxy({}, { get: (_, name) => (...given) => { leaks.push(...given); return Reflect[name](...given) } });
    const spy = new Proxy({ toString: () => 'x-in' }, handler);
    try { context.request.header(spy) } catch (error) { leaks.push(error) }
    try { log.info(spy, spy) } catch (error) { leaks.push(error) }
    try { refuse(spy, spy, spy) } catch (error) { leaks.push(error) }
    try { context.upstream.setTimeouts(spy) } catch (error) { leaks.push(error) }
    return leaks.filter((one) => one !== spy)`,
  'the symbol of inspect': `const name = Symbol.for('nodejs.util.inspect.custom');
    log.error('x', { a: { [name](...given) { leaks.push(...given) } } }); context.log('x', { [name](...given) { leaks.push(...given) } }); return leaks`,
  'the end of the stack': `const deep = () => { try { return deep() } catch (error) {
        leaks.push(error); try { context.request.header('x-in') } catch (inner) { leaks.push(inner) } throw error } };
    try { deep() } catch (error) { leaks.push(error) }
    return leaks`,
  'the end of the stack within a call': `let depth = 0; const spy = { toString() { depth++; context.request.header(spy); return 'x' } };
    try { context.request.header(spy) } catch (error) { leaks.push(error) } return leaks`,
  'the end of the stack in a call that fails': `const deep = () => { try { context.upstream.setHeader('a\\nb', 'c') } catch (error) { leaks.push(error) } deep() };
    try { deep() } catch (error) { leaks.push(error) } return leaks`,
  'code from texts': `for (const make of [Function, (function* () {}).constructor, Reflect.construct]) {
      try { leaks.push(make === Reflect.construct ? make(Function, ['return this'])() : make('return this')()) } catch (error) { leaks.push(error) }
    } return leaks`,
  'values of keys': 'const key = contextKey("a"); context.set(key, { a: [1] }); return [key, context.get(key)]',
  'Intl and dates':
    'return [new Intl.NumberFormat("de"), new Date(), new Intl.DateTimeFormat().formatToParts(new Date())]',
  'typed arrays': 'return [new Uint8Array(4).buffer, new DataView(new ArrayBuffer(1))]',
  iterators: `return [[].values(), 'a'.matchAll(/a/g), new Map().entries(), Iterator.from([1]), (function* () {})()]`,
};

for (const [name, body] of Object.entries(attempts)) {
  test(`the sandbox leaks nothing: ${name}`, async () => {
    const found = await inSandbox(`${isForeign}
      const values = (() => { ${body} })() ?? [];
      return values.map((value, at) => (isForeign(value) ? at : -1)).filter((at) => at >= 0);`);
    assert.deepEqual(found, []);
  });
}

test('everything that can be reached in the sandbox is its own', async () => {
  const found = await inSandbox(`${isForeign}
    const seen = new Set(); const foreign = [];
    const walk = (value, path) => {
      if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return;
      if (seen.has(value) || seen.size > 20000) return;
      seen.add(value);
      if (isForeign(value)) { foreign.push(path); return; }
      for (const key of Reflect.ownKeys(value)) {
        const descriptor = Object.getOwnPropertyDescriptor(value, key);
        for (const part of ['value', 'get', 'set']) walk(descriptor[part], path + '.' + String(key));
        if (descriptor.get) { let got; try { got = value[key] } catch (error) { got = error } walk(got, path + '.' + String(key)); }
      }
      walk(Object.getPrototypeOf(value), path + '.__proto__');
    };
    walk(globalThis, 'globalThis'); walk(context, 'context');
    return { foreign, enough: seen.size > 500 };`);
  assert.deepEqual(found, { foreign: [], enough: true });
});

test('the sandbox has no way to the outside, and none to run code later', async () => {
  const names = [
    ...[
      'process',
      'require',
      'module',
      'exports',
      'Buffer',
      'console',
      'fetch',
      'URL',
      'structuredClone',
      'global',
      'navigator',
    ],
    ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'Promise', 'WeakRef', 'FinalizationRegistry'],
    ...['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'eval', 'AsyncDisposableStack', 'MessageChannel', 'performance'],
  ];
  const found = await inSandbox(
    `return [${names.map((name) => `typeof ${name}`).join(', ')}, typeof Array.fromAsync, typeof Error.captureStackTrace];`,
  );
  assert.deepEqual(new Set(found as string[]), new Set(['undefined']));
});

test('what the sandbox is made of cannot be changed', async () => {
  const found = await inSandbox(`
    const changes = [
      () => { Object.prototype.polluted = 1 }, () => { Array.prototype.push = () => 0 }, () => { JSON.stringify = null },
      () => { globalThis.leak = 1 }, () => { refuse = null }, () => { context.request.header = null }, () => { context.get = null },
      () => { Object.getPrototypeOf(function* () {}).next = 1 }, () => { String.prototype.split = null }, () => { Object.setPrototypeOf(context, {}) },
    ];
    return changes.map((change) => { try { change(); return 'changed' } catch (error) { return error instanceof TypeError } });`);
  assert.deepEqual(found, Array(10).fill(true));
});

for (const text of [
  `(context) => { import('node:fs').catch((error) => error) }`,
  `(context) => { import/**/('node:fs') }`,
  `(context) => import.meta`,
  `async (context) => {}`,
  `(context) => { (async () => { throw new Proxy({}, {}) })() }`,
  `(context) => { for await (const a of []) {} }`,
  `(() => { class A { static async *f() {} } return (context) => {} })()`,
]) {
  test(`the sandbox refuses ${text}`, async () => {
    const checked = await testPlugin(preFunction, { settings }).check({ access: [text] });
    assert.equal(checked.ok, false);
    // A row that was stored while functions were trusted.
    const on = await testPlugin(preFunction, { settings: { untrustedFunctions: 'on' } }).check({ access: [text] });
    if (!on.ok) return;
    const tools = { settings, log: {}, count: () => undefined } as unknown as Parameters<typeof preFunction.setup>[1];
    assert.throws(
      () => preFunction.setup(on.config, tools),
      /pre-function access\[1\]: line 1, column \d+: the sandbox has no/,
    );
  });
}

for (const word of ['im\\u0070ort("node:fs")', '\\u0061sync () => {}', 'im\\u{70}ort("x")']) {
  test(`an escape in a keyword makes it no keyword: ${word}`, async () => {
    const checked = await testPlugin(preFunction, { settings }).check({ access: [`(context) => { return ${word} }`] });
    assert.equal(checked.ok, false);
  });
}

/** What a function returns or throws is code of a stranger, too: the gateway must not touch it. */
for (const [name, body] of Object.entries({
  'throws a proxy': 'throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 1 } })',
  'throws an error whose message is a getter':
    'const error = new Error(); Object.defineProperty(error, "message", { get() { throw error } }); throw error',
  'throws an error with a stack of objects':
    'const error = new Error("x"); error.stack = { indexOf() { throw 1 } }; throw error',
  'throws null': 'throw null',
  'throws a symbol': 'throw Symbol("x")',
  'throws a function': 'throw () => {}',
  'uses up the stack': 'const deep = () => deep(); deep()',
  'returns a thenable': 'return { then(resolve) { resolve(1) } }',
  'returns a proxy': 'return new Proxy({}, { get() { throw 1 }, has() { throw 1 } })',
  'returns a forged reply': 'return { status: 200, headers: [], body: "x", message: null }',
  'returns a function': 'return (() => {})',
} satisfies Readonly<Record<string, string>>)) {
  test(`a function of the sandbox that ${name}`, async () => {
    const plugin = testPlugin(preFunction, { settings, config: { access: [`(context) => { ${body} }`] } });
    const { response } = await plugin.request();
    const failed = name !== 'returns a function';
    assert.equal(response.status, failed ? 500 : 200);
    assert.equal(plugin.logLines.length, failed ? 1 : 0);
    if (failed) assert.match(String(plugin.logLines[0]?.fields['error']), /^Error: pre-function access\[1\]/);
  });
}

test('what the outermost expression of a function throws or is, is not touched', async () => {
  for (const text of [
    '((() => { throw new Proxy({}, { get() { throw 1 } }) })())',
    '(new Proxy({}, { get() { throw 1 } }))',
    '((() => { const deep = () => deep(); deep() })())',
    '(1)',
  ]) {
    const plugin = testPlugin(preFunction, { settings, config: { access: [text] } });
    await assert.rejects(plugin.request(), /^\w*Error: pre-function access\[1\]/, text);
  }
});

test('a callable proxy is called within the sandbox', async () => {
  const text =
    '(new Proxy(() => {}, { apply: (_, self, given) => replyJson(200, given.map((one) => one?.constructor?.constructor === Function)) }))';
  const { response } = await testPlugin(preFunction, { settings, config: { access: [text] } }).request();
  assert.equal(response.body, '[true,false,false]');
});

test('a context that outlives its request reads nothing of another one', async () => {
  const text = `(() => { let kept = null; return (context) => { kept ??= context; return replyJson(200, [kept.request.path, kept === context]) } })()`;
  const plugin = testPlugin(preFunction, { settings, config: { access: [text] } });
  await plugin.request({ path: '/first' });
  const { response } = await plugin.request({ path: '/second' });
  assert.equal(response.body, '["/second",true]');
});

test('a text of more than a megabyte does not leave the sandbox', async () => {
  const found = await inSandbox(
    `try { context.upstream.setHeader('X-A', 'x'.repeat(2 ** 21)) } catch (error) { return error.message }`,
  );
  assert.equal(found, 'a text of more than 1048576 characters');
});
