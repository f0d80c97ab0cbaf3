// Builds the dashboard into dist/: the files, their compressed forms, and files.json, which the gateway serves them from.
//   node dashboard/build.ts [--if-changed]
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const folder = import.meta.dirname;
const target = join(folder, 'dist');
const unfinished = join(folder, `dist.${process.pid}`);
const statePath = join(folder, 'dist.state.json');

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const sources = hashOfSources();
if (!process.argv.includes('--if-changed') || builtFrom() !== sources) await build();

/** Of everything that the files are made from, dependencies included. */
function hashOfSources(): string {
  const hash = createHash('sha256');
  const names = globSync(['src/**/*', 'public/**/*', '*.html', '*.ts', 'package.json', '../package-lock.json'], {
    cwd: folder,
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const name of names)
    hash
      .update(`${name.slice(folder.length)}\0`)
      .update(readFileSync(name))
      .update('\0');
  return hash.digest('hex').slice(0, 16);
}

function builtFrom(): string | null {
  try {
    return (JSON.parse(readFileSync(join(target, 'files.json'), 'utf8')) as { readonly sources: string }).sources;
  } catch {
    return null;
  }
}

async function build(): Promise<void> {
  note(null);
  try {
    // The gateway may be at work on the same cores.
    setPriority(10);
    const vite = await import('vite');
    mkdirSync(unfinished, { recursive: true });
    await vite.build({
      configFile: join(folder, 'vite.config.ts'),
      logLevel: 'warn',
      build: { outDir: unfinished, emptyOutDir: true },
    });
    const files = compressAll();
    writeFileSync(join(unfinished, 'files.json'), `${JSON.stringify({ sources, files })}\n`);
    // Built under another name first: a build that fails leaves the previous files in use.
    rmSync(target, { recursive: true, force: true });
    renameSync(unfinished, target);
    rmSync(statePath, { force: true });
    process.stdout.write(`built dashboard/dist: ${Object.keys(files).length} files\n`);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    note(message.slice(0, 4000));
    process.stderr.write(`the dashboard could not be built: ${message}\n`);
    process.exitCode = 1;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Read by the gateway while there are no files. */
function note(error: string | null): void {
  writeFileSync(statePath, `${JSON.stringify({ pid: process.pid, error })}\n`);
}

function compressAll(): Readonly<Record<string, unknown>> {
  const names = globSync('**/*', { cwd: unfinished, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(unfinished.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort();
  return Object.fromEntries(names.map((name) => [name, compress(name)]));
}

function compress(name: string): unknown {
  const path = join(unfinished, name);
  const content = readFileSync(path);
  const type = types[extname(name)] ?? 'application/octet-stream';
  const br = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  const gzip = gzipSync(content, { level: 9 });
  const sizes: Record<string, number> = { identity: content.length };
  for (const [encoding, suffix, bytes] of [
    ['br', '.br', br],
    ['gzip', '.gz', gzip],
  ] as const) {
    if (bytes.length >= content.length) continue;
    writeFileSync(`${path}${suffix}`, bytes);
    sizes[encoding] = bytes.length;
  }
  return {
    type,
    immutable: name.startsWith('assets/'),
    hash: createHash('sha256').update(content).digest('hex').slice(0, 16),
    sizes,
  };
}
