import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import aggregate from './index.ts';
import { type Config, run } from './run/run.fixture.ts';

const orders = {
  data: [
    { id: 1, secret: 'a', big: 12345678901234567890n, by: { mail: 'x', name: 'y' } },
    { id: 2, secret: 'b', by: { mail: 'z', name: 'w', secret: 'c' } },
  ],
  'first-name': 'Ada',
  next: null,
};
const text = JSON.stringify(orders, (_, value) => (typeof value === 'bigint' ? Number(value) : value)).replace(
  '12345678901234567000',
  '12345678901234567890',
);

async function shaped(shape: Config): Promise<string> {
  const part = { name: 'o', path: '/o', target: '$', ...shape, wrap: 'o' };
  return (await run({ requests: [part] }, { '/o': JSON.parse(text) })).response.body;
}

async function problem(part: Config): Promise<string> {
  const checked = await testPlugin(aggregate).check({ requests: [{ name: 'a', path: '/', ...part }] });
  return checked.ok ? '' : checked.message;
}

test('an answer is shaped by paths of RFC 9535', async () => {
  const cases: readonly (readonly [shape: Config, result: unknown])[] = [
    [{ unwrap: '$.data[?@.id == 2].by.name' }, ['w']],
    [{ unwrap: '$.data[0].id' }, 1],
    [{ unwrap: "$['first-name']" }, 'Ada'],
    [{ unwrap: 'first-name' }, 'Ada'],
    [{ unwrap: '$' }, JSON.parse(text)],
    [{ unwrap: '$.data[1:]', pick: ['$[0].id'] }, [{ id: 2 }]],
    [{ pick: ['$.data[1].by.name', '$.next'] }, { data: [{ by: { name: 'w' } }], next: null }],
    [{ pick: ['$.nothing'] }, {}],
    [{ unwrap: '$.data', omit: ['$..secret', '$[*].by', '$[0]'] }, [{ id: 2 }]],
    [
      { unwrap: '$.data[0:1]', omit: ['$[?@.id == 2]', '$[0].big'] },
      [{ id: 1, secret: 'a', by: { mail: 'x', name: 'y' } }],
    ],
    [
      { unwrap: '$.data[1].by', rename: { '$..secret': 'hidden', '$.mail': 'email' } },
      { email: 'z', name: 'w', hidden: 'c' },
    ],
  ];
  for (const [shape, result] of cases) {
    assert.deepEqual(JSON.parse(await shaped(shape)), { o: result }, JSON.stringify(shape));
  }
});

test('a filter among large numbers loses none of their digits', async () => {
  const part = { name: 'o', path: '/o', omit: ['$[?@.id < 9]'] };
  const { response } = await run({ requests: [part] }, { '/o': '[{"id":12345678901234567890},{"id":1}]' });
  assert.equal(response.body, '{"o":[{"id":12345678901234567890}]}');
});

test('references go on in RFC 9535', async () => {
  const config = (reference: string): Config => ({
    requests: [
      { name: 'o', path: '/o', hidden: true },
      { name: 'p', path: '/p', query: { v: reference }, hidden: true },
    ],
  });
  const cases = {
    '{o.body.data[?@.id == 2].by.name}': 'w',
    '{o.body..mail}': 'x%2Cz',
    '{o.body.data[::-1].id}': '2%2C1',
    "{o.body['first-name']}": 'Ada',
    '{o.body.first-name}': 'Ada',
    '{o.body.$.first-name}': 'Ada',
    '{o.body.data[*].id}': '1%2C2',
    '{o.body.data[-1].id}': '2',
  };
  for (const [reference, value] of Object.entries(cases)) {
    const { calls } = await run(config(reference), { '/o': JSON.parse(text), '/p': 1 });
    assert.equal(calls[1]?.query, `v=${value}`, reference);
  }
});

test('a target is a path of names', async () => {
  const requests = [
    { name: 'a', path: '/a', target: '$.x.y' },
    { name: 'b', path: '/a', target: "$['x']['first-name']" },
    { name: 'c', path: '/a', target: 'x.z' },
  ];
  const { json } = await run({ requests }, { '/a': 1 });
  assert.deepEqual(json, { x: { y: 1, 'first-name': 1, z: 1 } });
});

test('a path that cannot be used is refused', async () => {
  assert.match(await problem({ unwrap: '$.a[?@..b]' }), /unwrap.*a filter cannot look at all/);
  assert.match(await problem({ unwrap: 'a..b' }), /unwrap.*is not a path/);
  assert.match(await problem({ omit: ['$.a', 'b'] }), /omit.*either all of its paths begin with \$, or none does/);
  assert.match(await problem({ pick: ['$..[?@.a == $.b]'] }), /pick.*cannot compare/);
  assert.match(await problem({ query: { v: '{body.a[}' } }), /is not a path/);
  assert.notEqual(await problem({ target: '$.a[0]' }), '');
});
