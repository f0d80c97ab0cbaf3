import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startWhatIfRig, type WhatIfRig } from '../../../test/what-if/what-if-rig.fixture.ts';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
const flags = ['--disable-warning=ExperimentalWarning', '--conditions=sluicegate-source', main, 'what-if'];
const cache = { NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../.runtime/compile-cache') };
let rig: WhatIfRig;
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cli-what-if-'));
  rig = await startWhatIfRig({ route: { paths: ['/users'] } });
});
after(async () => {
  await rig.close();
  await rm(folder, { recursive: true, force: true });
});

function cli(
  ...words: readonly string[]
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  return new Promise((resolve) => {
    const argv = [...flags, '--admin', rig.gateway.adminUrl, ...words];
    execFile(process.execPath, argv, { cwd: folder, env: cache }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });
}

const config = (routes: string): string => `_format_version: "3.0"
services:
- name: backend
  url: ${rig.backend.url}
  retries: 0
  routes: ${routes}
`;

test('prints what a file would do to the requests, and exits with 2 when it refuses some', async () => {
  await writeFile(join(folder, 'same.yaml'), config('[{name: all, paths: [/users], strip_path: false}]'));
  await writeFile(join(folder, 'none.yaml'), config('[]'));
  await writeFile(join(folder, 'broken.yaml'), config('[{name: all, paths: 7}]'));
  assert.match((await cli('none.yaml')).out, /No request has been recorded yet/);
  await rig.send('/users/1');
  await rig.send('/users/2');
  await rig.kept(2);
  const same = await cli('same.yaml');
  assert.equal(same.code, 0, same.err);
  assert.match(same.out, /^2 requests from .*\n0 refused, 0 admitted, 0 rerouted, 0 changed, 0 undecided\n$/);
  const none = await cli('none.yaml');
  assert.equal(none.code, 2, none.err);
  assert.match(none.out, /2 refused/);
  assert.match(none.out, / 2 {2}200 backend \(all\) -> 404 gateway \(no route\): No route matched/);
  const one = await cli('none.yaml', '--requests', '1', '--json');
  assert.equal(JSON.parse(one.out).changed, 1);
  const broken = await cli('broken.yaml');
  assert.equal(broken.code, 1);
  assert.match(broken.err, /broken\.yaml:6.*routes\[0\]\.paths/);
  assert.equal((await cli()).code, 1);
  assert.equal((await cli('none.yaml', '--requests', 'x')).code, 1);
});
