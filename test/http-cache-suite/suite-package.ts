import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RawResult, TestSuite } from './suite-types.ts';

/*
 * The suite is the package http-cache-tests. It declares liquidjs, node-fetch and npm 6 as dependencies, and uses none of them: they would
 * add 460 packages with known vulnerabilities to the lock file. So the archive of this one package is fetched when the suite first runs,
 * checked against the hash below, and unpacked into .runtime/ (docs/decisions/0019-test-dependencies.md).
 */

export const suiteVersion = '0.4.5';
/** `dist.integrity` of this version in the npm registry. */
const integrity = 'sha512-DjuwN9nUZXLTW+wav1LRESCZNVxl8SshwOy4z1pxuWbWt5/ay6sM9QQ1lebBaDO6P1IMBoK6mdf+PuVP/QNL8A==';

/** On Windows npm is a shell script. */
const windows = process.platform === 'win32';
const runtime = join(import.meta.dirname, '../../.runtime');
const folder = join(runtime, `http-cache-tests-${suiteVersion}`);

type Handler = (segments: readonly string[], request: IncomingMessage, response: ServerResponse) => void;

/** The types that the runner uses; the package has none. */
export interface SuitePackage {
  readonly suites: readonly TestSuite[];
  runTests(
    suites: readonly TestSuite[],
    fetch: unknown,
    isBrowser: boolean,
    baseUrl: string,
    chunkSize: number,
  ): Promise<void>;
  getResults(): Readonly<Record<string, RawResult>>;
  readonly handlers: Readonly<Record<'config' | 'state' | 'test', Handler>>;
}

/** Loads the suite. The first call on a machine downloads it from the npm registry. */
export async function loadSuite(): Promise<SuitePackage> {
  if (!existsSync(folder)) fetchPackage();
  const load = (path: string) => import(pathToFileURL(join(folder, path)).href);
  const { runTests, getResults } = await load('client/runner.mjs');
  return {
    suites: (await load('tests/index.mjs')).default,
    runTests,
    getResults,
    handlers: {
      config: (await load('server/handle-config.mjs')).default,
      state: (await load('server/handle-state.mjs')).default,
      test: (await load('server/handle-test.mjs')).default,
    },
  };
}

function fetchPackage(): void {
  mkdirSync(runtime, { recursive: true });
  const temporary = mkdtempSync(join(runtime, 'http-cache-tests-'));
  try {
    const archive = `http-cache-tests-${suiteVersion}.tgz`;
    run('npm', 'pack', `http-cache-tests@${suiteVersion}`, '--loglevel=error');
    const hash = createHash('sha512')
      .update(readFileSync(join(temporary, archive)))
      .digest('base64');
    if (`sha512-${hash}` !== integrity) throw new Error(`${archive} does not have the hash ${integrity}`);
    run('tar', '-xzf', archive);
    renameSync(join(temporary, 'package'), folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }

  function run(command: string, ...args: readonly string[]): void {
    execFileSync(command, args, { cwd: temporary, stdio: ['ignore', 'ignore', 'inherit'], shell: windows });
  }
}
