import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exchangeOne } from '../support/raw-client.ts';
import { startRig } from '../support/rig.ts';

/** Case 30: expressions that take exponential time in a backtracking engine. */
const expressions: Readonly<Record<string, readonly [path: string, target: string]>> = {
  'nested quantifiers': ['~/(a+)+$', `/${'a'.repeat(200)}!`],
  'overlapping alternatives': ['~/(a|a)*$', `/${'a'.repeat(200)}!`],
  'alternatives of one prefix': ['~/(a|aa)+$', `/${'a'.repeat(200)}!`],
  'two unbounded runs': ['~/.*.*.*.*.*=x$', `/${'a'.repeat(3000)}`],
  'an e-mail address': ['~/([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}$', `/${'a'.repeat(200)}!`],
};

describe('regular expressions of routes', () => {
  for (const [what, [path, target]] of Object.entries(expressions)) {
    it(`take time linear in the path, or are refused: ${what}`, async () => {
      await using rig = await startRig();
      const made = await rig.gateway.admin('PUT', '/services/backend/routes/regex', { paths: [path] });
      if (made.status === 400) return;
      assert.ok(made.status < 300, JSON.stringify(made.body));
      const begun = performance.now();
      const response = await exchangeOne(rig.port, `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
      assert.equal(response.status, 200);
      assert.ok(performance.now() - begun < 1000, `${performance.now() - begun} ms`);
    });
  }
});

describe('regular expressions of schemas', () => {
  const texts = ['a'.repeat(50_000), `${'a'.repeat(50_000)}!`, `${'aa@'.repeat(20_000)}`, 'a-'.repeat(30_000)];
  const schemas: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'nested quantifiers': { pattern: '^(a+)+$' },
    'overlapping alternatives': { pattern: '^(a|a)*$' },
    'an e-mail address': { pattern: '^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}$' },
    'the format email': { format: 'email' },
    'the format url': { format: 'url' },
    'the format uri': { format: 'uri' },
    'the format hostname': { format: 'hostname' },
  };
  for (const [what, schema] of Object.entries(schemas)) {
    it(`take time linear in the body, or are refused: ${what}`, async () => {
      await using rig = await startRig();
      const config = { schema: JSON.stringify(schema) };
      const made = await rig.gateway.admin('POST', '/plugins', { name: 'body-validator', config });
      if (made.status === 400) return;
      for (const text of texts) {
        const body = JSON.stringify(text);
        const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
        const begun = performance.now();
        const { status } = await exchangeOne(rig.port, head + body, 'POST');
        assert.ok(status === 200 || status === 400);
        assert.ok(performance.now() - begun < 1000, `${performance.now() - begun} ms`);
      }
    });
  }
});
