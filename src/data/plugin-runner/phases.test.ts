import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contextKey, definePlugin, httpProtocols, type Plugin, refuse, reply } from '../../plugin-sdk/index.ts';
import type { PluginPhases } from '../../plugin-sdk/phases.ts';
import type { ConsumerView } from '../../plugin-sdk/request-views.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testPlugin } from '../../plugin-testing/index.ts';

let names = 0;

/** A plugin with these phases; each one gets its own name and priority, in descending order. */
function plugin(phases: PluginPhases, needs: NonNullable<Parameters<typeof definePlugin>[0]['needs']> = {}): Plugin {
  names++;
  return definePlugin({
    name: `sample-${names}`,
    version: '1.0.0',
    priority: 10_000 - names,
    protocols: httpProtocols,
    schema: { config: record({}) },
    needs,
    setup: () => phases,
  });
}

function together(first: Plugin, ...others: readonly Plugin[]) {
  return testPlugin(first, { otherPlugins: others.map((one) => ({ plugin: one })) });
}

const soon = () => new Promise<void>((resolve) => setImmediate(resolve));

test('access handlers run one after the other, asynchronous ones included', async () => {
  const order: string[] = [];
  const slow = plugin({
    access: async () => {
      order.push('slow begins');
      await soon();
      order.push('slow ends');
      return undefined;
    },
  });
  const quick = plugin({
    access: () => {
      order.push('quick');
      return undefined;
    },
  });
  const { upstream } = await together(slow, quick).request();
  assert.deepEqual(order, ['slow begins', 'slow ends', 'quick']);
  assert.notEqual(upstream, null);
});

for (const [kind, answer] of [
  ['at once', () => reply({ status: 418 })],
  ['later', async () => reply({ status: 418 })],
] as const) {
  test(`a reply returned ${kind} ends access; header filters and logs of all plugins still run`, async () => {
    const ran: string[] = [];
    const refusing = plugin({ access: answer });
    const after = plugin({
      access: () => {
        ran.push('access');
        return undefined;
      },
      headerFilter: ({ response }) => response.setHeader('X-After', String(response.status)),
      log: () => ran.push('log'),
    });
    const { response, upstream } = await together(refusing, after).request();
    assert.equal(upstream, null);
    assert.deepEqual([response.status, response.source, response.header('x-after')], [418, 'gateway', '418']);
    assert.deepEqual(ran, ['log']);
  });
}

for (const [kind, access] of [
  [
    'throws',
    () => {
      throw new Error('secret cause');
    },
  ],
  [
    'rejects',
    async () => {
      throw new Error('secret cause');
    },
  ],
] as const) {
  test(`a plugin that ${kind} in access results in a compact 500, and the log has plugin, phase and cause`, async () => {
    const harness = testPlugin(plugin({ access }));
    const { response, requestId } = await harness.request();
    assert.deepEqual([response.status, response.body], [500, '{"message":"An unexpected error occurred"}']);
    assert.equal(response.header('content-type'), 'application/json; charset=utf-8');
    const [line] = harness.logLines;
    assert.equal(line?.level, 'error');
    assert.match(String(line?.fields['plugin']), /^sample-/);
    assert.equal(line?.fields['phase'], 'access');
    assert.equal(line?.fields['request_id'], requestId);
    assert.match(String(line?.fields['error']), /^Error: secret cause\n {4}at /);
  });
}

for (const [kind, answer] of [
  ['at once', () => reply({ status: 418 })],
  ['later', async () => reply({ status: 418 })],
] as const) {
  test(`a reply returned ${kind} in rewrite answers before routing; header filters and logs still run`, async () => {
    const ran: string[] = [];
    const answering = plugin({ rewrite: answer });
    const after = plugin({
      rewrite: () => void ran.push('rewrite'),
      access: () => {
        ran.push('access');
        return undefined;
      },
      headerFilter: () => void ran.push('headerFilter'),
      log: () => void ran.push('log'),
    });
    const { response, upstream } = await together(answering, after).request();
    assert.deepEqual([upstream, response.status], [null, 418]);
    assert.deepEqual(ran, ['headerFilter', 'log']);
  });
}

test('a plugin that fails in rewrite results in a 500 and access does not run', async () => {
  let ran = false;
  const failing = plugin({
    rewrite: async () => {
      throw new Error('no');
    },
    access: () => {
      ran = true;
      return undefined;
    },
  });
  const { response } = await testPlugin(failing).request();
  assert.deepEqual([response.status, ran], [500, false]);
});

test('a plugin that fails in headerFilter or log does not break the answer or the others', async () => {
  const fail = () => {
    throw new Error('no');
  };
  let logged = false;
  const harness = together(
    plugin({ headerFilter: fail, log: fail }),
    plugin({
      headerFilter: ({ response }) => response.setHeader('X-Second', 'yes'),
      log: () => {
        logged = true;
      },
    }),
  );
  const { response } = await harness.request({ backend: { body: 'fine' } });
  assert.deepEqual([response.status, response.body, response.header('x-second')], [200, 'fine', 'yes']);
  assert.equal(logged, true);
  assert.deepEqual(
    harness.logLines.map((line) => line.fields['phase']),
    ['headerFilter', 'log'],
  );
});

test('a value set in one phase is available in later ones, to code that has its key', async () => {
  const key = contextKey<number>('count');
  const other = contextKey<number>('count');
  const found: unknown[] = [];
  await testPlugin(
    plugin({
      access: (context) => {
        context.set(key, 7);
        return undefined;
      },
      log: (context) => found.push(context.get(key), context.get(other)),
    }),
  ).request();
  assert.deepEqual(found, [7, undefined]);
});

test('body filters of several plugins form one chain, including what they hold back', async () => {
  const upper = plugin({
    bodyFilter: () => ({ chunk: (piece) => Buffer.from(Buffer.from(piece).toString().toUpperCase()), end: () => null }),
  });
  const hold = () => {
    let held = '';
    return {
      chunk: (piece: Uint8Array) => {
        held += Buffer.from(piece).toString();
        return null;
      },
      end: () => Buffer.from(`[${held}]`),
    };
  };
  const { response } = await together(upper, plugin({ bodyFilter: hold }), plugin({ bodyFilter: hold })).request({
    backend: { body: ['ab', 'cd'] },
  });
  assert.deepEqual([response.body, response.complete], ['[[ABCD]]', true]);
});

test('a body filter may leave a response unchanged', async () => {
  const { response } = await testPlugin(plugin({ bodyFilter: () => null })).request({ backend: { body: 'as it is' } });
  assert.equal(response.body, 'as it is');
});

test('a body filter that fails aborts the transfer instead of passing the body on unchanged', async () => {
  const failing = plugin({
    bodyFilter: () => ({
      chunk() {
        throw new Error('no');
      },
      end: () => null,
    }),
  });
  const harness = testPlugin(failing);
  const { response } = await harness.request({ backend: { body: 'secret' } });
  assert.deepEqual([response.body, response.complete], ['', false]);
  assert.equal(harness.logLines[0]?.fields['phase'], 'bodyFilter');
});

test('the response phase sees the whole body and may replace the response', async () => {
  const needs = { responseBody: { mode: 'buffer', maxBytes: 1000 } } as const;
  const replacing = plugin(
    {
      response: async ({ response }) => {
        await soon();
        return reply({ status: 201, body: `${response.status} ${Buffer.from(response.body()).toString()}` });
      },
    },
    needs,
  );
  const { response } = await testPlugin(replacing).request({ backend: { body: ['on', 'e'] } });
  assert.deepEqual([response.status, response.body], [201, '200 one']);
});

test('a plugin does not receive a body that it did not request', async () => {
  const harness = testPlugin(
    plugin({
      access: async ({ body }) => {
        await body();
        return undefined;
      },
    }),
  );
  assert.equal((await harness.request({ method: 'POST', body: 'x' })).response.status, 500);
});

test('authenticate names the consumer to later plugins and in the headers for the backend', async () => {
  const consumer: ConsumerView = { id: 'c1', username: 'Zoë', customId: null, tags: [] };
  const seen: unknown[] = [];
  const { upstream, consumer: known } = await together(
    plugin({
      access: (context) => {
        context.authenticate(consumer, { id: 'k1', identifier: 'key-1' });
        return undefined;
      },
    }),
    plugin({
      access: ({ client }) => {
        seen.push(client.consumer?.id, client.credential?.identifier);
        return undefined;
      },
    }),
  ).request({
    headers: { 'X-Consumer-Custom-ID': 'spoofed', X_Consumer_ID: 'spoofed', 'X-Anonymous-Consumer': 'true' },
  });
  assert.equal(known, consumer);
  assert.deepEqual(seen, ['c1', 'key-1']);
  assert.equal(upstream?.header('x-consumer-id'), 'c1');
  assert.equal(upstream?.header('x-consumer-username'), Buffer.from('Zoë').toString('latin1'));
  assert.equal(upstream?.header('x-credential-identifier'), 'key-1');
  for (const name of ['x-consumer-custom-id', 'x_consumer_id', 'x-anonymous-consumer']) {
    assert.equal(upstream?.header(name), null);
  }
});

test('a consumer without a credential is anonymous', async () => {
  const { upstream } = await testPlugin(
    plugin({
      access: (context) => {
        context.authenticate({ id: 'c1', username: 'guest', customId: null, tags: [] }, null);
        return undefined;
      },
    }),
  ).request({ headers: { 'X-Credential-Identifier': 'spoofed' } });
  assert.equal(upstream?.header('x-anonymous-consumer'), 'true');
  assert.equal(upstream?.header('x-credential-identifier'), null);
});

test('a name with a control character reaches no backend and causes no server error', async () => {
  const { response, upstream } = await testPlugin(
    plugin({
      access: (context) => {
        const consumer = { id: 'c1', username: 'a\r\nX-Admin: yes', customId: 'a\n', tags: [] };
        context.authenticate(consumer, { id: null, identifier: 'CN=a\0b' });
        return undefined;
      },
    }),
  ).request({ headers: { 'X-Consumer-Username': 'spoofed', 'X-Credential-Identifier': 'spoofed' } });
  assert.equal(response.status, 200);
  assert.deepEqual(Object.keys(upstream?.headers ?? {}), ['x-consumer-id']);
});

test('an error reply has the format that the client accepts', async () => {
  const { response, requestId } = await testPlugin(plugin({ access: () => refuse(429, 'slow down') })).request({
    headers: { Accept: 'text/plain' },
  });
  assert.deepEqual([response.status, response.body], [429, `slow down\nrequest_id: ${requestId}\n`]);
});

test('dispose runs once no request uses the instance', async () => {
  const events: string[] = [];
  let go: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  let begun: () => void = () => {};
  const started = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const harness = testPlugin(
    plugin({
      access: async () => {
        begun();
        await held;
        return undefined;
      },
      log: () => events.push('log'),
      dispose: () => events.push('dispose'),
    }),
  );
  const request = harness.request();
  await started;
  await harness.dispose();
  assert.deepEqual(events, []);
  go();
  await request;
  assert.deepEqual(events, ['log', 'dispose']);
  await harness.dispose();
  assert.deepEqual(events, ['log', 'dispose']);
});
