import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import type { CommandContext } from '../../command.ts';

/** No test of a plugin may run for longer, in milliseconds. */
const testTimeout = 60_000;

/**
 * `plugin test [file...]`: runs the tests of a plugin with Node's own runner. `sluicegate/...` is the running copy, also in
 * a folder where the package is not installed.
 */
export async function runTests({ arguments: { positionals, options }, cwd, env }: CommandContext): Promise<number> {
  const [, ...files] = positionals;
  const contract = new URL('../../plugin/register-contract.ts', import.meta.url).href;
  const watch = options['watch'] === true ? ['--watch'] : [];
  const { NODE_TEST_CONTEXT: _outer, ...variables } = env;
  const child = spawn(
    process.execPath,
    [
      ...['--disable-warning=ExperimentalWarning', '--import', contract],
      ...['--test', `--test-timeout=${testTimeout}`, ...watch, ...files],
    ],
    { cwd: resolve(cwd, String(options['folder'] ?? '.')), env: variables, stdio: 'inherit' },
  );
  return new Promise((done, failed) => {
    child.once('error', failed);
    child.once('exit', (code) => done(code ?? 1));
  });
}
