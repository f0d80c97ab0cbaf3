import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './files.ts';

/** Files of a group. */
const groupSize = 16;

/** A test that changes or measures its process, or a hook for all tests of its file. */
const needsProcess =
  /^(?:before|after)(?:Each)?\(|\bprocess\.(?!execPath\b|pid\b|threadCpuUsage\b)|\bmock\b|\bgc\(|\b(?:Date\.now|globalThis\.\w+) = |\/file-end\.ts/m;

/**
 * Modules that import several test files each. The files of a module share a process, since to start one and to load the code takes
 * longer than most unit tests. Files whose tests need a process of their own stay as they are. The modules are removed when this process ends.
 */
export function groupTestFiles(files: readonly string[]): readonly string[] {
  const alone = files.filter((file) => runsAlone(join(root, file)));
  const others = files.filter((file) => !alone.includes(file));
  const folder = mkdtempSync(join(tmpdir(), 'test-groups-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const count = Math.ceil(others.length / groupSize);
  const groups = Array.from({ length: count }, (_, group) => {
    const name = join(folder, `group-${group + 1}.test.mjs`);
    const members = others.filter((_file, place) => place % count === group);
    writeFileSync(name, members.map((file) => `import ${JSON.stringify(pathToFileURL(join(root, file)))};\n`).join(''));
    return name;
  });
  return [...groups, ...alone];
}

/** A rig that a test imports counts as part of it. */
function runsAlone(path: string): boolean {
  const text = readFileSync(path, 'utf8');
  const rigs = [...text.matchAll(/ from '(\.[^']*(?:\.fixture|\/support\/[^']*)\.ts)';/g)];
  return (
    needsProcess.test(text) ||
    rigs.some(([, rig = '']) => needsProcess.test(readFileSync(join(dirname(path), rig), 'utf8')))
  );
}
