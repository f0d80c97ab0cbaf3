import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClient, type TestClient, type TestClientOptions } from './dns-client.fixture.ts';
import {
  type Asked,
  addressRecord,
  aliasRecord,
  answerTo,
  type HostileServer,
  serviceRecord,
  startHostileServer,
  type TestAnswer,
  wireName,
} from './hostile-server.fixture.ts';

const a = 1;
const oneSecond = 'options timeout:1 attempts:1\n';

async function startBoth(
  answer: (asked: Asked) => void,
  options: TestClientOptions = {},
): Promise<{ server: HostileServer; dns: TestClient } & AsyncDisposable> {
  const server = await startHostileServer(answer);
  const dns = await createTestClient({ servers: [server], order: ['A'], conf: oneSecond, ...options });
  return {
    server,
    dns,
    async [Symbol.asyncDispose]() {
      await dns[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function good({ message, name }: Asked, ip = '10.0.0.1'): Buffer {
  return answerTo(message, { answers: [addressRecord(name, ip)] });
}

/** The same answer with another id. */
function forged(asked: Asked): Buffer {
  const message = good(asked, '10.66.66.66');
  message.writeUInt16BE((message.readUInt16BE(0) + 1) & 0xffff, 0);
  return message;
}

test('an answer to another question is ignored, and the true answer is awaited', async () => {
  await using both = await startBoth((asked) => {
    const lie = good(asked, '10.66.66.66');
    const other = answerTo(wireQuestion(asked, 'evil.test'), { answers: [addressRecord('evil.test', '10.66.66.66')] });
    const question = Buffer.from(lie);
    question[2] = (question[2] as number) & 0x7f;
    asked.replyFromElsewhere(lie);
    for (const bytes of [forged(asked), other, question, lie.subarray(0, 11), Buffer.alloc(0)]) asked.reply(bytes);
    setImmediate(() => asked.reply(good(asked)));
  });
  assert.deepEqual(await both.dns.addresses('a.test'), ['10.0.0.1']);
  assert.ok(both.dns.client.counts.foreign >= 3, 'they are counted');
});

test('without a valid answer the query ends with a timeout', async () => {
  await using both = await startBoth((asked) => asked.reply(forged(asked)));
  const failure = await both.dns.failure('a.test');
  assert.equal(failure.kind, 'failed');
  assert.match(failure.message, /timeout/);
});

test('ids and source ports differ between queries', async () => {
  await using both = await startBoth((asked) => asked.reply(good(asked)));
  for (let index = 0; index < 20; index++) await both.dns.addresses(`n${index}.test`);
  const { asked } = both.server;
  // A chance meeting of two is possible.
  assert.ok(new Set(asked.map(({ message }) => message.readUInt16BE(0))).size >= 18);
  assert.ok(new Set(asked.map(({ port }) => port)).size >= 18);
});

/** Each of these is malformed, and fails at once. */
const malformed: Readonly<Record<string, (asked: Asked) => Buffer>> = {
  'cut off in the middle of a record': (asked) => good(asked).subarray(0, -2),
  'more records announced than there are': (asked) => withCount(good(asked), 6, 2),
  'a name that points to itself': (asked) => replaceOwner(asked, pointer(12 + wireName(asked.name).length + 4)),
  'a name that points forward': (asked) => replaceOwner(asked, pointer(0x3fff)),
  'a label of a reserved kind': (asked) => replaceOwner(asked, Buffer.from([0x80, 0])),
  'an address of three bytes': (asked) =>
    answerTo(asked.message, { answers: [{ name: asked.name, type: a, data: Buffer.alloc(3) }] }),
  'an alias that does not fill its record': (asked) =>
    answerTo(asked.message, {
      answers: [{ name: asked.name, type: 5, data: Buffer.concat([wireName('b.test'), Buffer.alloc(3)]) }],
    }),
  'a name of more than 255 bytes': (asked) =>
    answerTo(asked.message, { answers: [addressRecord('x.'.repeat(200), '10.0.0.1')] }),
};

for (const [what, make] of Object.entries(malformed)) {
  test(`malformed: ${what}`, async () => {
    await using both = await startBoth((asked) => asked.reply(make(asked)), { conf: 'options timeout:30\n' });
    const failure = await both.dns.failure('a.test');
    assert.equal(failure.kind, 'failed');
    assert.match(failure.message, /no usable answer from server/);
  });
}

test('records of other names, classes and types are not taken', async () => {
  await using both = await startBoth(({ message, name, reply }) => {
    const chaos = answerTo(message, { answers: [addressRecord(name, '10.66.66.66')] });
    chaos.writeUInt16BE(3, chaos.length - 12);
    if (name === 'chaos.test') return reply(chaos);
    return reply(
      answerTo(message, {
        answers: [
          addressRecord('other.test', '10.66.66.66'),
          { name, type: 16, data: Buffer.from('\x03txt') },
          { name, type: 28, data: Buffer.alloc(16) },
        ],
      }),
    );
  });
  for (const name of ['a.test', 'chaos.test']) assert.equal((await both.dns.failure(name)).kind, 'not-found', name);
});

const codes: readonly (readonly [number, string, RegExp])[] = [
  [1, 'failed', /dns server error: 1 format error/],
  [2, 'failed', /dns server error: 2 server failure/],
  [3, 'not-found', /dns server error: 3 name error/],
  [4, 'failed', /dns server error: 4 not implemented/],
  [5, 'failed', /dns server error: 5 refused/],
  [9, 'failed', /dns server error: 9 unknown/],
];
for (const [code, kind, text] of codes) {
  test(`code ${code} is ${kind}, and says so`, async () => {
    await using both = await startBoth(({ message, reply }) => reply(answerTo(message, { code })));
    const failure = await both.dns.failure('a.test');
    assert.equal(failure.kind, kind);
    assert.match(failure.message, text);
    assert.equal(both.server.asked.length, 1, 'a server that answers with a failure is not queried again');
  });
}

test('a refusal without the question is a refusal', async () => {
  await using both = await startBoth(({ message, reply }) => {
    const refusal = Buffer.alloc(12);
    message.copy(refusal, 0, 0, 2);
    refusal.writeUInt16BE(0x8185, 2);
    reply(refusal);
  });
  assert.match((await both.dns.failure('a.test')).message, /5 refused/);
});

test('endless aliases are an error', async () => {
  let next = 0;
  await using chain = await startBoth(({ message, name, reply }) =>
    reply(answerTo(message, { answers: [aliasRecord(name, `x${next++}.test`)] })),
  );
  assert.match((await chain.dns.failure('a.test')).message, /too many aliases/);
  assert.ok(chain.server.asked.length < 20);
  await using circle = await startBoth(({ message, reply }) =>
    reply(answerTo(message, { answers: [aliasRecord('a.test', 'b.test'), aliasRecord('b.test', 'a.test')] })),
  );
  const failure = await circle.dns.failure('a.test');
  assert.ok(circle.server.asked.length < 20);
  assert.ok(failure.message.length > 0);
  await using typed = await startBoth(
    ({ message, name, type, reply }) =>
      reply(answerTo(message, type === 5 ? { answers: [aliasRecord(name, `x${next++}.test`)] } : {})),
    { order: ['CNAME'] },
  );
  assert.match((await typed.dns.failure('a.test')).message, /too many aliases/);
});

test('an alias that the server does not follow is followed here', async () => {
  await using both = await startBoth(({ message, name, reply }) =>
    reply(
      answerTo(message, {
        answers: [name === 'a.test' ? aliasRecord(name, 'b.test') : addressRecord(name, '10.0.0.7')],
      }),
    ),
  );
  assert.deepEqual(await both.dns.addresses('a.test'), ['10.0.0.7']);
});

test('the answer over TCP to a truncated one is checked as strictly', async () => {
  const answers: TestAnswer = { answers: [addressRecord('a.test', '10.0.0.1'), addressRecord('a.test', '10.0.0.2')] };
  await using both = await startBoth(({ message, reply }) =>
    reply(answerTo(message, { ...answers, truncated: true, answers: [] })),
  );
  const { server, dns } = both;
  server.answerTcp = (message) => ({ bytes: framed(answerTo(message, answers)), end: false });
  assert.deepEqual(await dns.addresses('a.test'), ['10.0.0.1', '10.0.0.2']);
  const wrong: Readonly<Record<string, HostileServer['answerTcp']>> = {
    'closed at once': null,
    'cut off': (message) => ({ bytes: framed(answerTo(message, answers)).subarray(0, -3), end: true }),
    'never complete': (message) => ({ bytes: framed(answerTo(message, answers)).subarray(0, -3), end: false }),
    'nothing but a length': () => ({ bytes: Buffer.from([0xff]), end: false }),
    'still cut off': (message) => ({ bytes: framed(answerTo(message, { truncated: true })), end: false }),
    garbage: () => ({ bytes: framed(Buffer.from('HTTP/1.1 400 Bad Request')), end: true }),
    empty: () => ({ bytes: Buffer.alloc(2), end: true }),
  };
  for (const [what, answerTcp] of Object.entries(wrong)) {
    server.answerTcp = answerTcp;
    assert.equal((await dns.failure('a.test')).kind, 'failed', what);
  }
});

test('a server failure for a known type returns no other addresses', async () => {
  let failing = false;
  await using both = await startBoth(
    ({ message, name, type, reply }) => {
      if (type === 33 && failing) return reply(answerTo(message, { code: 2 }));
      if (type === 33) return reply(answerTo(message, { answers: [serviceRecord(name, 'b.test', 8080)] }));
      return reply(answerTo(message, { answers: [addressRecord(name, '10.0.0.1')] }));
    },
    { order: ['LAST', 'SRV', 'A'] },
  );
  assert.deepEqual(await both.dns.addresses('a.test'), ['10.0.0.1:8080*1 b.test']);
  failing = true;
  assert.equal((await both.dns.failure('a.test')).kind, 'failed');
});

test('a target that cannot be resolved for a while keeps its addresses in the service', async () => {
  let failing = false;
  await using both = await startBoth(
    ({ message, name, type, reply }) => {
      if (type === 33) {
        const answers = [serviceRecord(name, 'b.test', 80), serviceRecord(name, 'c.test', 80)];
        return reply(answerTo(message, { answers }));
      }
      if (failing && name === 'b.test') return reply(answerTo(message, { code: 2 }));
      return reply(
        answerTo(message, { answers: [addressRecord(name, name === 'b.test' ? '10.0.0.1' : '10.0.0.2', 0)] }),
      );
    },
    { order: ['SRV', 'A'] },
  );
  const all = ['10.0.0.1:80*1 b.test', '10.0.0.2:80*1 c.test'];
  assert.deepEqual(await both.dns.addresses('s.test'), all);
  failing = true;
  assert.deepEqual(await both.dns.addresses('s.test'), all);
});

test('a thousand targets without addresses are queried, a bounded number at once', async () => {
  await using both = await startBoth(
    ({ message, name, type, reply }) => {
      if (type === 33) return reply(answerTo(message, { truncated: true }));
      return reply(answerTo(message, { answers: [addressRecord(name, `10.1.${Number(name.slice(1, 4)) % 256}.1`)] }));
    },
    { order: ['SRV', 'A'], size: 2000 },
  );
  const targets = Array.from({ length: 1000 }, (_, index) => `t${String(index).padStart(3, '0')}.test`);
  both.server.answerTcp = (message) => ({
    bytes: framed(answerTo(message, { answers: targets.map((target) => serviceRecord('s.test', target, 80)) })),
    end: true,
  });
  assert.equal((await both.dns.addresses('s.test')).length, 1000);
});

function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

function withCount(message: Buffer, at: number, count: number): Buffer {
  message.writeUInt16BE(count, at);
  return message;
}

function pointer(to: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(0xc000 | to);
  return bytes;
}

function replaceOwner(asked: Asked, owner: Buffer): Buffer {
  const message = good(asked);
  const start = 12 + wireName(asked.name).length + 4;
  return Buffer.concat([message.subarray(0, start), owner, message.subarray(start + wireName(asked.name).length)]);
}

/** The question with another name, and the same id. */
function wireQuestion({ message, name }: Asked, other: string): Buffer {
  return Buffer.concat([message.subarray(0, 12), wireName(other), message.subarray(12 + wireName(name).length)]);
}
