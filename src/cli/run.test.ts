import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { settingNames } from '../shared/settings/schema.ts';
import { version } from '../version.ts';
import { commands } from './commands.ts';
import { run } from './run.ts';

const cwd = mkdtempSync(join(tmpdir(), 'cli-run-'));
after(() => rmSync(cwd, { recursive: true, force: true }));

async function cli(
  argv: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number; out: string; err: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await run(argv, { env, cwd, out: (line) => out.push(line), err: (line) => err.push(line) });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

test('without a command, and with --help, the commands are listed', async () => {
  for (const argv of [[], ['--help'], ['-h'], ['help']]) {
    const { code, out } = await cli(argv);
    assert.equal(code, 0);
    for (const { name, summary } of commands)
      assert.match(out, new RegExp(`^ {2}${name} +${summary.slice(0, 20)}`, 'm'));
  }
});

test('every command explains itself', async () => {
  for (const { name } of commands) {
    const { code, out } = await cli([name, '--help']);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`^Usage: sluicegate ${name}`));
    assert.equal((await cli(['help', name])).out, out);
  }
});

test('all settings can be listed', async () => {
  const { out } = await cli(['help', 'settings']);
  for (const name of settingNames) assert.ok(out.includes(`--${name.replaceAll('_', '-')} (`), name);
});

test('an unknown command is refused', async () => {
  assert.deepEqual(await cli(['dance']), { code: 1, out: '', err: 'Error: No such command: dance' });
  assert.equal((await cli(['strat'])).err, 'Error: No such command: strat (did you mean start?)');
  assert.equal((await cli(['help', 'dance'])).err, 'Error: No such command: dance');
});

test('an unknown option is refused', async () => {
  assert.equal((await cli(['version', '--al'])).err, 'Error: unknown option --al (see sluicegate version --help)');
  assert.equal((await cli(['start', '-z'])).err, 'Error: unknown option -z (see sluicegate start --help)');
  assert.equal(
    (await cli(['check', '--log-levl', 'x'])).err,
    'Error: unknown option --log-levl (did you mean --log-level?)',
  );
});

test('an option without its value, or with one that it does not take, is refused', async () => {
  assert.equal((await cli(['check', '-p'])).err, 'Error: option -p needs a value (directory)');
  assert.equal((await cli(['check', '--log-level'])).err, 'Error: option --log-level needs a value');
  assert.equal((await cli(['version', '--all=x'])).err, 'Error: option --all=x takes no value');
  assert.equal(
    (await cli(['stop', '-t', 'soon'])).err,
    `Error: Sluicegate is not running in ${join(cwd, '.sluicegate')}`,
  );
  assert.equal((await cli(['version', 'x'])).err, "Error: unexpected argument 'x' (see sluicegate version --help)");
});

test('version prints the version', async () => {
  assert.deepEqual(await cli(['version']), { code: 0, out: version, err: '' });
  assert.match((await cli(['version', '-a'])).out, /^Sluicegate: .*\nKong interfaces: .*\nnode: /);
  assert.equal((await cli(['--version'])).out, version);
});

test('check reports whether a file is valid', async () => {
  const path = join(cwd, 'good.conf');
  writeFileSync(path, 'log_level = debug\nnginx_daemon = off\n');
  assert.deepEqual(await cli(['check', path]), {
    code: 0,
    out: `configuration at ${path} is valid`,
    err: `Warning: ${path}: nginx_daemon has no meaning here and is ignored`,
  });
  writeFileSync(path, 'log_level = x\n');
  const { code, err } = await cli(['check', '-c', path]);
  assert.equal(code, 1);
  assert.match(err, /^Error: log_level has an invalid value: 'x' \(.*\) \(set by .*good\.conf line 1\)$/);
});

test('check loads the plugins that the settings name', async () => {
  const { code, err } = await cli(['check'], { KONG_PLUGINS: 'bundled,corss' });
  assert.equal(code, 1);
  assert.match(err, /^Error: plugins: 'corss' cannot be loaded: .* \(did you mean 'cors'\?\)$/);
});

test('settings can be options in any form, and a switch needs no value', async () => {
  assert.equal((await cli(['check', '--allow-debug-header', '--workers=3', '--pg-user', 'x'])).code, 0);
  assert.match(
    (await cli(['check', '--workers=x'])).err,
    /^Error: nginx_worker_processes is not a number: 'x' \(set by --workers\)$/,
  );
});

test('an error is one line; --v adds its stack', async () => {
  assert.equal((await cli(['check'], { KONG_DATABASE: 'cassandra' })).err.split('\n').length, 1);
  assert.match((await cli(['check', '--v'], { KONG_DATABASE: 'cassandra' })).err, /\n +at /);
});
