import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestAdmin, type TestAdmin } from './admin.fixture.ts';

let admin: TestAdmin;
before(async () => {
  admin = await startTestAdmin();
});
after(() => admin[Symbol.asyncDispose]());

const service = '00000000-0000-4000-8000-000000000001';
const other = '00000000-0000-4000-8000-000000000002';
const absent = '00000000-0000-4000-8000-00000000ffff';

interface Case {
  readonly name: string;
  readonly call: readonly [method: string, path: string, body?: unknown];
  readonly status: number;
  /** The whole answer, or with `part` what it must contain. */
  readonly body?: Readonly<Record<string, unknown>> | '';
  readonly part?: Readonly<Record<string, unknown>>;
}

/** Cases run in order, each on what those before it have left. */
function runAll(cases: readonly Case[]): void {
  for (const { name, call, status, body, part } of cases) {
    test(name, async () => {
      const answer = await admin.call(...call);
      assert.equal(answer.status, status, answer.text);
      if (body === '') assert.equal(answer.text, '');
      else if (body !== undefined) assert.deepEqual(answer.json, body);
      for (const [field, value] of Object.entries(part ?? {})) assert.deepEqual(answer.json[field], value, field);
    });
  }
}

const notFound = { message: 'Not found' };
const hostMissing = {
  code: 2,
  name: 'schema violation',
  message: 'schema violation (host: required field missing)',
  fields: { host: 'required field missing' },
};

runAll([
  {
    name: 'POST creates with the id given',
    call: ['POST', '/services', { id: service, name: 'users', host: 'a.test' }],
    status: 201,
    part: { id: service, name: 'users', host: 'a.test', port: 80, retries: 5, path: null, tags: null },
  },
  {
    name: 'POST without a required field is a schema violation',
    call: ['POST', '/services', {}],
    status: 400,
    body: hostMissing,
  },
  { name: 'POST without a body is the same', call: ['POST', '/services'], status: 400, body: hostMissing },
  {
    name: 'an unknown field is a schema violation',
    call: ['POST', '/services', { host: 'a.test', nonsense: 1 }],
    status: 400,
    part: { code: 2, message: 'schema violation (nonsense: unknown field)', fields: { nonsense: 'unknown field' } },
  },
  {
    name: 'several violations are counted and sorted',
    call: ['POST', '/services', { host: 'a.test', retries: 'x', port: 70000 }],
    status: 400,
    part: { message: '2 schema violations (port: value should be between 0 and 65535; retries: expected an integer)' },
  },
  {
    name: 'a name that is taken is a conflict',
    call: ['POST', '/services', { name: 'users', host: 'a.test' }],
    status: 409,
    body: {
      code: 5,
      name: 'unique constraint violation',
      message: 'UNIQUE violation detected on \'{name="users"}\'',
      fields: { name: 'users' },
    },
  },
  {
    name: 'an id that is taken is a primary key violation',
    call: ['POST', '/services', { id: service, host: 'a.test' }],
    status: 400,
    body: {
      code: 3,
      name: 'primary key violation',
      message: `primary key violation on key '{id="${service}"}'`,
      fields: { id: service },
    },
  },
  { name: 'GET by id', call: ['GET', `/services/${service}`], status: 200, part: { name: 'users' } },
  {
    name: 'GET by id in capitals',
    call: ['GET', `/services/${service.toUpperCase()}`],
    status: 200,
    part: { name: 'users' },
  },
  { name: 'GET by name', call: ['GET', '/services/users'], status: 200, part: { id: service } },
  {
    name: 'GET of what is not there is a plain 404',
    call: ['GET', `/services/${absent}`],
    status: 404,
    body: notFound,
  },
  {
    name: 'GET of a name that is not there is a plain 404',
    call: ['GET', '/services/none'],
    status: 404,
    body: notFound,
  },
  {
    name: 'a name is no id where an entity has no name',
    call: ['GET', '/ca_certificates/abc'],
    status: 400,
    body: {
      code: 1,
      name: 'invalid primary key',
      message: 'invalid primary key: \'{id="expected a valid UUID"}\'',
      fields: { id: 'expected a valid UUID' },
    },
  },
  {
    name: 'PATCH changes one field and keeps the rest',
    call: ['PATCH', '/services/users', { retries: 3 }],
    status: 200,
    part: { retries: 3, host: 'a.test', id: service },
  },
  {
    name: 'PATCH with null brings back nothing or the default',
    call: ['PATCH', '/services/users', { path: '/x', retries: null }],
    status: 200,
    part: { path: '/x', retries: 5 },
  },
  {
    name: 'PATCH by id of what is not there says so with code 6',
    call: ['PATCH', `/services/${absent}`, { retries: 3 }],
    status: 404,
    body: {
      code: 6,
      name: 'not found',
      message: `could not find the entity with primary key '{id="${absent}"}'`,
      fields: { id: absent },
    },
  },
  {
    name: 'PATCH by name of what is not there says so with code 6',
    call: ['PATCH', '/services/none', { retries: 3 }],
    status: 404,
    body: {
      code: 6,
      name: 'not found',
      message: 'could not find the entity with \'{name="none"}\'',
      fields: { name: 'none' },
    },
  },
  {
    name: 'PATCH of a plugin that is not there is a plain 404',
    call: ['PATCH', `/plugins/${absent}`, { enabled: false }],
    status: 404,
    body: notFound,
  },
  {
    name: 'PATCH cannot change the id',
    call: ['PATCH', '/services/users', { id: other }],
    status: 404,
    part: { code: 6 },
  },
  {
    name: 'PATCH with the same id is fine',
    call: ['PATCH', '/services/users', { id: service }],
    status: 200,
    part: { id: service },
  },
  {
    name: 'PATCH with a bad value changes nothing',
    call: ['PATCH', '/services/users', { retries: 99999, path: '/y' }],
    status: 400,
    part: { fields: { retries: 'value should be between 0 and 32767' } },
  },
  { name: 'which the next GET shows', call: ['GET', '/services/users'], status: 200, part: { path: '/x', retries: 5 } },
  {
    name: 'PUT by id replaces: what is left out is the default again',
    call: ['PUT', `/services/${service}`, { name: 'users', host: 'b.test' }],
    status: 200,
    part: { host: 'b.test', path: null, id: service },
  },
  {
    name: 'PUT by name keeps the id and needs no name in the body',
    call: ['PUT', '/services/users', { host: 'c.test' }],
    status: 200,
    part: { id: service, name: 'users', host: 'c.test' },
  },
  {
    name: 'PUT by id creates with status 200',
    call: ['PUT', `/services/${other}`, { host: 'd.test' }],
    status: 200,
    part: { id: other, name: null },
  },
  {
    name: 'PUT by name creates',
    call: ['PUT', '/services/fresh', { host: 'd.test' }],
    status: 200,
    part: { name: 'fresh' },
  },
  {
    name: 'PUT with a name that is taken is a conflict',
    call: ['PUT', `/services/${other}`, { host: 'd.test', name: 'fresh' }],
    status: 409,
    part: { code: 5 },
  },
  {
    name: 'PUT to a name that cannot be one has code 10',
    call: ['PUT', '/services/has%20space', { host: 'd.test' }],
    status: 400,
    body: {
      code: 10,
      name: 'invalid unique name',
      message: "invalid value 'has space': the only accepted ascii characters are alphanumerics or ., -, _, and ~",
    },
  },
  { name: 'DELETE answers with nothing', call: ['DELETE', '/services/fresh'], status: 204, body: '' },
  { name: 'DELETE of what is not there does too', call: ['DELETE', '/services/fresh'], status: 204, body: '' },
  {
    name: 'DELETE by an id that is not there does too',
    call: ['DELETE', `/services/${absent}`],
    status: 204,
    body: '',
  },
]);

runAll([
  {
    name: 'a reference by id',
    call: ['POST', '/routes', { name: 'r1', paths: ['/r1'], service: { id: service } }],
    status: 201,
    part: { service: { id: service } },
  },
  {
    name: 'a reference by name',
    call: ['POST', '/routes', { name: 'r2', paths: ['/r2'], service: { name: 'users' } }],
    status: 201,
    part: { service: { id: service } },
  },
  {
    name: 'a reference in a form',
    call: ['POST', '/routes', 'name=r3&paths[]=/r3&service.name=users'],
    status: 201,
    part: { service: { id: service }, paths: ['/r3'] },
  },
  {
    name: 'no reference',
    call: ['POST', '/routes', { name: 'r4', paths: ['/r4'], service: null }],
    status: 201,
    part: { service: null },
  },
  {
    name: 'a reference by id to nothing',
    call: ['POST', '/routes', { paths: ['/x'], service: { id: absent } }],
    status: 400,
    body: {
      code: 4,
      name: 'foreign key violation',
      message: `the foreign key '{id="${absent}"}' does not reference an existing 'services' entity.`,
      fields: { service: { id: absent } },
    },
  },
  {
    name: 'a reference by name to nothing',
    call: ['POST', '/routes', { paths: ['/x'], service: { name: 'none' } }],
    status: 400,
    part: {
      code: 13,
      name: 'foreign keys unresolved',
      message:
        "foreign key unresolved (service.name: the foreign key cannot be resolved with '{name=\"none\"}' for an existing 'services' entity)",
    },
  },
  {
    name: 'an empty reference',
    call: ['POST', '/routes', { paths: ['/x'], service: {} }],
    status: 400,
    part: { code: 2, fields: { service: { id: 'missing primary key' } } },
  },
  {
    name: 'a text for a reference',
    call: ['POST', '/routes', { paths: ['/x'], service: 'users' }],
    status: 400,
    part: { code: 2 },
  },
  {
    name: 'a service with routes stays',
    call: ['DELETE', '/services/users'],
    status: 400,
    body: {
      code: 4,
      name: 'foreign key violation',
      message: "an existing 'routes' entity references this 'services' entity",
      fields: { '@referenced_by': 'routes' },
    },
  },
  {
    name: 'PATCH can move a reference by name',
    call: ['PATCH', '/routes/r4', { service: { name: 'users' } }],
    status: 200,
    part: { service: { id: service } },
  },
  {
    name: 'PATCH can unset a reference',
    call: ['PATCH', '/routes/r4', { service: null }],
    status: 200,
    part: { service: null },
  },
]);

runAll([
  {
    name: 'a plugin is created with its defaults',
    call: ['POST', '/plugins', { name: 'rate-limiting', service: { id: service }, config: { minute: 5 } }],
    status: 201,
    part: { config: { minute: 5, policy: 'local', limits: { video: null, audio: 7 } }, enabled: true },
  },
  {
    name: 'the same plugin at the same place is a conflict',
    call: ['POST', '/plugins', { name: 'rate-limiting', service: { id: service } }],
    status: 409,
    part: {
      message: `UNIQUE violation detected on '{consumer=null,name="rate-limiting",route=null,service={id="${service}"}}'`,
    },
  },
  {
    name: 'an unknown plugin',
    call: ['POST', '/plugins', { name: 'nope' }],
    status: 400,
    part: { fields: { name: "plugin 'nope' not enabled; add it to the 'plugins' configuration property" } },
  },
  {
    name: 'a plugin without a name',
    call: ['POST', '/plugins', { config: {} }],
    status: 400,
    part: { fields: { name: 'required field missing' } },
  },
  {
    name: 'a number for the name of a plugin',
    call: ['POST', '/plugins', { name: 1 }],
    status: 400,
    part: { code: 2 },
  },
  {
    name: 'a faulty configuration',
    call: ['POST', '/plugins', { name: 'rate-limiting', config: { minute: 0, more: 1 } }],
    status: 400,
    part: { message: '2 schema violations (config.minute: value must be greater than 0; config.more: unknown field)' },
  },
  {
    name: 'a plugin that knows no consumers',
    call: ['POST', '/plugins', { name: 'key-auth', consumer: { id: absent } }],
    status: 400,
    part: { fields: { consumer: 'value must be null' } },
  },
  {
    name: 'a form is typed by the schema of the plugin',
    call: ['POST', '/routes/r1/plugins', 'name=rate-limiting&config.minute=9&config.limits.video=2&enabled=false'],
    status: 201,
    part: { config: { minute: 9, policy: 'local', limits: { video: 2, audio: 7 } }, enabled: false },
  },
  {
    name: 'protocols that the route does not have',
    call: ['POST', '/routes/r2/plugins', { name: 'rate-limiting', protocols: ['grpc'] }],
    status: 400,
    part: { fields: { protocols: "must match the associated route's protocols" } },
  },
  {
    name: 'protocols that no route of the service has',
    call: ['POST', '/services/users/plugins', { name: 'key-auth', protocols: ['grpc'] }],
    status: 400,
    part: { fields: { protocols: "must match the protocols of at least one route pointing to this Plugin's service" } },
  },
]);

test('PATCH merges records deeply, and a form PATCH is typed by the stored name of the plugin', async () => {
  const [plugin] = (await admin.call('GET', '/services/users/plugins')).json['data'] as { id: string }[];
  const json = await admin.call('PATCH', `/plugins/${plugin?.id}`, { config: { limits: { video: 1 } } });
  assert.deepEqual(json.json['config'], { minute: 5, policy: 'local', limits: { video: 1, audio: 7 } });
  const form = await admin.call('PATCH', `/plugins/${plugin?.id}`, 'config.minute=6');
  assert.deepEqual(form.json['config'], { minute: 6, policy: 'local', limits: { video: 1, audio: 7 } });
});

test('arrays are replaced whole', async () => {
  const answer = await admin.call('PATCH', '/routes/r1', { paths: ['/a', '/b'] });
  assert.deepEqual(answer.json['paths'], ['/a', '/b']);
  assert.deepEqual((await admin.call('PATCH', '/routes/r1', 'paths=/c')).json['paths'], ['/c']);
});

test('urlencoded, multipart and JSON say the same', async () => {
  const json = await admin.call('PUT', '/services/same', { url: 'https://h.test/p', tags: ['a', 'b'], retries: 2 });
  const form = await admin.call('PUT', '/services/same', 'url=https://h.test/p&tags[]=a&tags[]=b&retries=2');
  const parts = ['url', 'https://h.test/p', 'tags[]', 'a', 'tags[]', 'b', 'retries', '2'];
  let body = '';
  for (let index = 0; index < parts.length; index += 2) {
    body += `--x\r\ncontent-disposition: form-data; name="${parts[index]}"\r\n\r\n${parts[index + 1]}\r\n`;
  }
  const multipart = await admin.call('PUT', '/services/same', `${body}--x--\r\n`, {
    'content-type': 'multipart/form-data; boundary=x',
  });
  const plain = ({ created_at: _c, updated_at: _u, ...rest }: Readonly<Record<string, unknown>>) => rest;
  assert.equal(json.json['port'], 443);
  assert.deepEqual(plain(form.json), plain(json.json));
  assert.deepEqual(plain(multipart.json), plain(json.json));
});

test('a form with an empty value sets null', async () => {
  assert.equal((await admin.call('PATCH', '/services/same', 'tags=')).json['tags'], null);
});

test('timestamps are whole seconds, and what a client sends back does not move an entity', async () => {
  const created = (await admin.call('PUT', '/services/clock', { host: 'a.test' })).json;
  assert.ok(Number.isInteger(created['created_at']));
  assert.ok(Number.isInteger(created['updated_at']));
  const before = await admin.store.get('services', String(created['id']));
  await admin.call('PATCH', '/services/clock', { ...created, enabled: false });
  await admin.call('PUT', '/services/clock', { ...created, enabled: false });
  const later = await admin.store.get('services', String(created['id']));
  assert.equal(later?.created_at, before?.created_at);
  const moved = await admin.call('PATCH', '/services/clock', { created_at: 1_600_000_000, updated_at: 5 });
  assert.equal(moved.json['created_at'], 1_600_000_000);
  assert.ok(Number(moved.json['updated_at']) > 1_600_000_000);
});

test('every write waits until its version is published, a read does not', async () => {
  const before = admin.published.length;
  await admin.call('GET', '/services');
  await admin.call('DELETE', '/services/none');
  assert.equal(admin.published.length, before);
  await admin.call('POST', '/consumers', { username: 'waits' });
  await admin.call('PATCH', '/consumers/waits', { custom_id: '1' });
  await admin.call('DELETE', '/consumers/waits');
  assert.deepEqual(
    admin.published.slice(before),
    admin.published.slice(before).toSorted((a, b) => a - b),
  );
  assert.equal(admin.published.at(-1), await admin.store.version());
});

test('concurrent writes of one name leave one entity and one answer 201', async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => admin.call('POST', '/services', { name: 'race', host: 'a.test' })),
  );
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409, 409, 409, 409, 409, 409, 409]);
});

test('concurrent PATCHes of one entity all count', async () => {
  await admin.call('PUT', '/services/patched', { host: 'a.test' });
  const changes = [
    { retries: 1 },
    { port: 81 },
    { path: '/p' },
    { host: 'b.test' },
    { read_timeout: 9 },
    { enabled: false },
  ];
  await Promise.all(changes.map((change) => admin.call('PATCH', '/services/patched', change)));
  const { json } = await admin.call('GET', '/services/patched');
  for (const change of changes) for (const [field, value] of Object.entries(change)) assert.equal(json[field], value);
});

test('consumers can be looked up by custom_id', async () => {
  await admin.call('POST', '/consumers', { username: 'bob', custom_id: 'c-1' });
  const found = await admin.call('GET', '/consumers?custom_id=c-1');
  assert.deepEqual(
    (found.json['data'] as { username: string }[]).map(({ username }) => username),
    ['bob'],
  );
  assert.equal(
    (await admin.call('GET', '/consumers?custom_id=none')).text,
    '{"data":[],"next":null,"nextCursor":null}',
  );
  const empty = await admin.call('GET', '/consumers?custom_id=');
  assert.equal(empty.status, 400);
  assert.deepEqual(empty.json, { message: 'custom_id must be an unempty string' });
});

test('deleting a consumer or a service takes its plugins along', async () => {
  await admin.call('PUT', '/services/short', { host: 'a.test' });
  const { json } = await admin.call('POST', '/services/short/plugins', { name: 'key-auth' });
  assert.equal((await admin.call('DELETE', '/services/short')).status, 204);
  assert.equal((await admin.call('GET', `/plugins/${String(json['id'])}`)).status, 404);
});
