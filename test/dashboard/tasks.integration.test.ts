// Ten tasks of people who run a gateway, once as a script and once in the browser: both work, and the browser takes fewer steps.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { root } from '../../scripts/lib/files.ts';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { type DashboardRig, skipWithoutChromium, startDashboardRig } from '../support/dashboard.ts';
import { Person, scriptSteps } from './tasks/person.ts';
import { type TaskPlace, tasks } from './tasks/tasks.ts';

const skip = skipWithoutChromium();
const run = promisify(execFile);

function teaShop(url: string): object {
  const responses = { 200: { description: 'OK' } };
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
  return {
    ...{ openapi: '3.1.0', info: { title: 'Tea Shop', version: '1.0.0' }, servers: [{ url }] },
    paths: { '/teas': { get: { responses }, post: { responses } }, '/orders/{id}': { get: { parameters, responses } } },
  };
}

const counted: (readonly [title: string, script: number, browser: number])[] = [];

describe('tasks', { skip }, () => {
  let rig: DashboardRig;
  let backend: TestBackend;
  let folder: string;
  let place: TaskPlace;
  before(async () => {
    rig = await startDashboardRig();
    backend = await startBackend();
    folder = await mkdtemp(join(tmpdir(), 'sluicegate-tasks-'));
    const file = join(folder, 'openapi.json');
    await writeFile(file, JSON.stringify(teaShop(backend.url)));
    place = {
      ...{ rig, file, backend: backend.url },
      async admin(method, path, body) {
        const answer = await rig.gateway.admin(method, path, body);
        assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
        return Object(answer.body);
      },
      async send(path, headers = {}) {
        const answer = await fetch(`${rig.gateway.proxyUrl}${path}`, { headers });
        await answer.arrayBuffer();
        return answer.status;
      },
    };
  });
  after(async () => {
    await rig?.[Symbol.asyncDispose]();
    await backend?.[Symbol.asyncDispose]();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  for (const task of tasks) {
    test(task.title, async () => {
      const reset = async (): Promise<void> => {
        await place.admin('POST', '/config/apply', { _format_version: '3.0' });
        await place.admin('DELETE', '/traffic');
        await task.prepare(place);
      };
      await reset();
      const env = {
        ...process.env,
        ADMIN: rig.gateway.adminUrl,
        PROXY: rig.gateway.proxyUrl,
        BACKEND: place.backend,
        FILE: place.file,
      };
      const { stdout } = await run('sh', ['-ec', task.script], { env });
      await task.check(place, stdout);
      await reset();
      await using desk = await rig.open('/');
      const person = new Person(desk.page);
      await task.browser(person, place);
      await task.check(place, null);
      counted.push([task.title, scriptSteps(task.script), person.steps]);
    });
  }

  test('at least nine take fewer steps in the browser, and docs/dashboard.md has the numbers', () => {
    assert.equal(counted.length, tasks.length);
    assert.ok(counted.filter(([, script, browser]) => browser < script).length >= 9, JSON.stringify(counted));
    const page = readFileSync(join(root, 'docs/dashboard.md'), 'utf8');
    for (const [title, script, browser] of counted) {
      const row = `| ${title} | ${script} | ${browser} |`;
      assert.ok(page.includes(row), `docs/dashboard.md lacks the row: ${row}`);
    }
  });
});
