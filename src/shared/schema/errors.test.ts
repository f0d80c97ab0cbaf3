import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as errors from './errors.ts';

const cases: readonly [error: errors.KongError, status: number, body: errors.KongErrorBody][] = [
  [
    errors.invalidPrimaryKey({ id: 'expected a valid UUID' }),
    400,
    {
      code: 1,
      name: 'invalid primary key',
      message: `invalid primary key: '{id="expected a valid UUID"}'`,
      fields: { id: 'expected a valid UUID' },
    },
  ],
  [
    errors.schemaViolation({ host: 'required field missing' }),
    400,
    {
      code: 2,
      name: 'schema violation',
      message: 'schema violation (host: required field missing)',
      fields: { host: 'required field missing' },
    },
  ],
  [
    errors.primaryKeyViolation({ id: 'x' }),
    400,
    {
      code: 3,
      name: 'primary key violation',
      message: `primary key violation on key '{id="x"}'`,
      fields: { id: 'x' },
    },
  ],
  [
    errors.foreignKeyMissing('service', 'services', { id: 'x' }),
    400,
    {
      code: 4,
      name: 'foreign key violation',
      message: `the foreign key '{id="x"}' does not reference an existing 'services' entity.`,
      fields: { service: { id: 'x' } },
    },
  ],
  [
    errors.stillReferenced('services', 'routes'),
    400,
    {
      code: 4,
      name: 'foreign key violation',
      message: "an existing 'routes' entity references this 'services' entity",
      fields: { '@referenced_by': 'routes' },
    },
  ],
  [
    errors.uniqueViolation({ name: 'foo' }),
    409,
    {
      code: 5,
      name: 'unique constraint violation',
      message: `UNIQUE violation detected on '{name="foo"}'`,
      fields: { name: 'foo' },
    },
  ],
  [
    errors.notFoundByKey({ id: 'x' }),
    404,
    {
      code: 6,
      name: 'not found',
      message: `could not find the entity with primary key '{id="x"}'`,
      fields: { id: 'x' },
    },
  ],
  [
    errors.notFoundByField({ name: 'x' }),
    404,
    {
      code: 6,
      name: 'not found',
      message: `could not find the entity with '{name="x"}'`,
      fields: { name: 'x' },
    },
  ],
  [
    errors.invalidOffset('x', 'bad base64 encoding'),
    400,
    { code: 7, name: 'invalid offset', message: "'x' is not a valid offset: bad base64 encoding" },
  ],
  [errors.databaseError(), 500, { code: 8, name: 'database error', message: 'database error' }],
  [
    errors.invalidSize('size must be a number'),
    400,
    { code: 9, name: 'invalid size', message: 'size must be a number' },
  ],
  [
    errors.invalidUnique('name', 'must not be an IP'),
    400,
    { code: 10, name: 'invalid unique name', message: 'must not be an IP' },
  ],
  [
    errors.invalidOptions({ tags: 'cannot be null' }),
    400,
    {
      code: 11,
      name: 'invalid options',
      message: 'invalid option (tags: cannot be null)',
      options: { tags: 'cannot be null' },
    },
  ],
  [
    errors.invalidOptions({ b: 'y', a: 'x' }),
    400,
    {
      code: 11,
      name: 'invalid options',
      message: '2 option violations (a: x; b: y)',
      options: { b: 'y', a: 'x' },
    },
  ],
  [errors.operationUnsupported('no'), 405, { code: 12, name: 'operation unsupported', message: 'no' }],
  [
    errors.foreignKeysUnresolved([{ field: 'service', key: 'name', value: 'non-existing', entity: 'services' }]),
    400,
    {
      code: 13,
      name: 'foreign keys unresolved',
      message: `foreign key unresolved (service.name: the foreign key cannot be resolved with '{name="non-existing"}' for an existing 'services' entity)`,
      fields: {
        service: {
          name: `the foreign key cannot be resolved with '{name="non-existing"}' for an existing 'services' entity`,
        },
      },
    },
  ],
  [
    errors.declarativeConfigInvalid({ services: [{ host: 'required field missing' }] }),
    400,
    {
      code: 14,
      name: 'invalid declarative configuration',
      message: 'declarative config is invalid: {services={{host="required field missing"}}}',
      fields: { services: [{ host: 'required field missing' }] },
    },
  ],
  [errors.transformationError(), 500, { code: 15, name: 'transformation error', message: 'transformation error' }],
  [
    errors.invalidForeignKey({ id: 'x' }),
    500,
    { code: 16, name: 'invalid foreign key', message: `invalid foreign key: '{id="x"}'`, fields: { id: 'x' } },
  ],
  [errors.invalidWorkspace('w'), 500, { code: 17, name: 'invalid workspace', message: "invalid workspace 'w'" }],
  [
    errors.invalidUniqueGlobal('n'),
    500,
    { code: 18, name: 'invalid global query', message: 'unique key n is invalid for global query' },
  ],
  [errors.referencedByOthers('still used'), 400, { code: 19, name: 'referenced by others', message: 'still used' }],
];

for (const [error, status, body] of cases) {
  test(`code ${body.code} is sent with ${status} as ${body.message}`, () => {
    assert.deepEqual(error, { status, body });
  });
}

test('a duplicate plugin is reported with every part of its key', () => {
  const fields = { name: 'basic-auth', route: { id: 'r' }, service: null, consumer: null };
  assert.equal(
    errors.uniqueViolation(fields).body.message,
    `UNIQUE violation detected on '{consumer=null,name="basic-auth",route={id="r"},service=null}'`,
  );
});
