import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { declarativeConfigInvalid } from '../../../shared/schema/errors.ts';
import type { ConfigProblem } from '../contract.ts';
import { declare } from '../declarative.fixture.ts';
import { flattenErrors } from './flatten-errors.ts';
import { kongFields } from './kong-fields.ts';
import { parseErrorText } from './parse-error-text.ts';
import { problemLines } from './problem-lines.ts';

async function problemsOf(config: Parameters<typeof declare>[0]): Promise<readonly ConfigProblem[]> {
  return (await declare(config)).problems;
}

const id = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';

describe("Kong's tree of errors", () => {
  it('mirrors the document', async () => {
    assert.deepEqual(kongFields(await problemsOf({ foo: [], services: [{ port: 99999 }] })), {
      foo: 'unknown field',
      services: [{ host: 'required field missing', port: 'value should be between 0 and 65535' }],
    });
  });

  it('has null for valid entities, at every level', async () => {
    const config = {
      services: [
        { name: 'ok', host: 'h' },
        { name: 'parent', host: 'h', routes: [{ paths: ['/'] }, { paths: ['/', 'bad'], plugins: [{ name: 'nope' }] }] },
        5,
      ],
    };
    assert.deepEqual(kongFields(await problemsOf(config)), {
      services: [
        null,
        {
          routes: [
            null,
            {
              paths: [null, 'should start with: / (fixed path) or ~/ (regex path)'],
              plugins: [{ name: "plugin 'nope' not enabled; add it to the 'plugins' configuration property" }],
            },
          ],
        },
        'expected a record',
      ],
    });
  });

  it('has unknown references by name, id or position', async () => {
    const config = {
      routes: [
        { name: 'r', paths: ['/'], service: 'x' },
        { id, paths: ['/'], service: 'y' },
      ],
    };
    assert.deepEqual(kongFields(await problemsOf(config)), {
      routes: {
        r: ["invalid reference 'service: x' (no such entry in 'services')"],
        [id]: ["invalid reference 'service: y' (no such entry in 'services')"],
      },
    });
  });

  it('has both in one kind of entity', async () => {
    const fields = kongFields(
      await problemsOf({
        routes: [{ name: 'r', paths: ['/'], service: 'x' }, { name: 'ok', paths: ['/'] }, { name: 'bad' }],
      }),
    );
    const routes = fields['routes'] as Record<string, unknown>;
    assert.deepEqual(Object.keys(routes), ['3', 'r']);
  });

  it('makes the body of the error', async () => {
    const { status, body } = declarativeConfigInvalid(kongFields(await problemsOf({ services: [{ name: 'a' }] })));
    assert.equal(status, 400);
    assert.deepEqual(body, {
      code: 14,
      name: 'invalid declarative configuration',
      message: 'declarative config is invalid: {services={{host="required field missing"}}}',
      fields: { services: [{ host: 'required field missing' }] },
    });
  });

  it('does not take a name for more than a name', async () => {
    const config = { routes: [{ name: '__proto__', paths: ['/'], service: 'x' }] };
    const fields = kongFields(await problemsOf(config));
    assert.deepEqual(Object.keys(fields['routes'] as object), ['__proto__']);
    assert.equal(({} as Record<string, unknown>)['service'], undefined);
  });
});

describe('flattened errors', () => {
  it('are one for each entity, in the form of Kong', async () => {
    const config = {
      _format_version: '3.0',
      services: [
        {
          id,
          name: 'a',
          tags: ['k8s-name:a', 'k8s-kind:Service'],
          host: 'h',
          protocol: 'tcp',
          path: '/x',
          routes: [{ name: 'r', paths: ['/', 'x'], tags: ['k8s-name:r'] }],
        },
      ],
      consumers: [{ username: 'bob', extra_field: 1, keyauth_credentials: [{ key: 'k', ttl: 'x' }] }],
    };
    const { fields, flattened_errors: errors } = flattenErrors(await problemsOf(config));
    assert.deepEqual(fields, {});
    const byType = new Map(errors.map((error) => [error.entity_type, error]));
    assert.deepEqual(byType.get('service'), {
      entity_type: 'service',
      entity_id: id,
      entity_name: 'a',
      entity_tags: ['k8s-name:a', 'k8s-kind:Service'],
      entity: {
        id,
        name: 'a',
        tags: ['k8s-name:a', 'k8s-kind:Service'],
        host: 'h',
        protocol: 'tcp',
        path: '/x',
      },
      errors: [
        { type: 'entity', message: "failed conditional validation given value of field 'protocol'" },
        { type: 'field', field: 'path', message: 'value must be null' },
      ],
    });
    assert.deepEqual(byType.get('route'), {
      entity_type: 'route',
      entity_name: 'r',
      entity_tags: ['k8s-name:r'],
      entity: { name: 'r', paths: ['/', 'x'], tags: ['k8s-name:r'], service: { id } },
      errors: [{ type: 'field', field: 'paths.2', message: 'should start with: / (fixed path) or ~/ (regex path)' }],
    });
    assert.deepEqual(byType.get('consumer'), {
      entity_type: 'consumer',
      entity: { username: 'bob', extra_field: 1 },
      errors: [{ type: 'field', field: 'extra_field', message: 'unknown field' }],
    });
    assert.equal(byType.get('keyauth_credential')?.errors[0]?.type, 'field');
    assert.equal(errors.length, 4);
  });

  it('keep what belongs to no entity in `fields`', async () => {
    const { fields, flattened_errors: errors } = flattenErrors(
      await problemsOf({ foo: 1, services: ['x'], routes: 'r' }),
    );
    assert.deepEqual(fields, { foo: 'unknown field', services: ['expected a record'], routes: 'expected an array' });
    assert.deepEqual(errors, []);
  });

  it('have dotted paths, and references and duplicates as messages', async () => {
    const config = {
      plugins: [
        { name: 'rate-limiting', config: { minute: 'x' }, service: 'nope' },
        { id, name: 'cors' },
        { id, name: 'cors' },
      ],
    };
    const { flattened_errors: errors } = flattenErrors(await problemsOf(config));
    assert.deepEqual(errors[0]?.errors, [
      { type: 'field', field: 'config.minute', message: 'expected a number' },
      { type: 'field', field: 'service', message: "invalid reference 'service: nope' (no such entry in 'services')" },
    ]);
    assert.equal(errors[1]?.entity_type, 'plugin');
    assert.equal(errors[1]?.errors[0]?.type, 'entity');
    assert.match(errors[1]?.errors[0]?.message ?? '', /^uniqueness violation: 'plugins' entity with primary key/);
  });
});

describe('as text', () => {
  const text = '_format_version: "3.0"\nservices:\n- name: a\n- host: h\n  routes:\n  - paths:\n    - /a\n    - b\n';

  it("as Kong's command prints it", async () => {
    assert.equal(
      parseErrorText(await problemsOf(text)),
      [
        'Failed parsing:',
        "  in 'services':",
        "    - in entry 1 of 'services':",
        "      in 'host': required field missing",
        "    - in entry 2 of 'services':",
        "      in 'routes':",
        "        - in entry 1 of 'routes':",
        "          in 'paths':",
        "            - in entry 2 of 'paths': should start with: / (fixed path) or ~/ (regex path)",
      ].join('\n'),
    );
  });

  it('one line for each message', async () => {
    assert.deepEqual(problemLines(await problemsOf(text)), [
      'line 3: services[0].host: required field missing',
      'line 8: services[1].routes[0].paths[1]: should start with: / (fixed path) or ~/ (regex path)',
    ]);
  });
});
