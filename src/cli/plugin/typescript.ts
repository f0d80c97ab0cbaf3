import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type { Finding } from './finding.ts';

/** The most that a run of the compiler may take. */
const timeoutMs = 120_000;

/** The module of `tsc` that the folder has installed, or null. */
export function findCompiler(folder: string): string | null {
  try {
    const manifest = createRequire(join(folder, 'package.json')).resolve('typescript/package.json');
    const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly bin?: { readonly tsc?: string } };
    const compiler = join(dirname(manifest), bin?.tsc ?? 'bin/tsc');
    return existsSync(compiler) ? compiler : null;
  } catch {
    return null;
  }
}

/** Runs the compiler of the folder with these arguments; its errors, with absolute paths. */
export async function runCompiler(
  compiler: string,
  folder: string,
  args: readonly string[],
): Promise<readonly Finding[]> {
  const child = spawn(process.execPath, [compiler, '--pretty', 'false', ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: timeoutMs,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const status = await new Promise<number | null>((done, failed) => {
    child.once('error', failed);
    child.once('close', done);
  });
  const findings = output.split('\n').flatMap((line) => readError(folder, line));
  if (status === 0 || findings.length > 0) return findings;
  return [{ level: 'error', place: folder, message: `tsc failed: ${output.trim() || 'it was interrupted'}` }];
}

/** `index.ts(3,7): error TS2322: ...`; the lines below an error explain it further. */
function readError(folder: string, line: string): readonly Finding[] {
  const [, file = '', row, column, message = ''] = /^(.+?)\((\d+),(\d+)\): error (TS\d+: .*)$/.exec(line) ?? [];
  if (file !== '') return [{ level: 'error', place: `${resolve(folder, file)}:${row}:${column}`, message }];
  const [, general] = /^error (TS\d+: .*)$/.exec(line) ?? [];
  return general === undefined ? [] : [{ level: 'error', place: join(folder, 'tsconfig.json'), message: general }];
}
