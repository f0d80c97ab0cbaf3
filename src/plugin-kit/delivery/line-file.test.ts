import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { reopenFiles } from '../../shared/logs/reopening.ts';
import { type LineFile, openLineFile } from './line-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'line-file-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const fresh = (): string => join(folder, `${++files}.log`);

interface Opened {
  readonly file: LineFile;
  readonly counts: Map<string, number>;
  readonly told: string[];
}

function opened(path: string, followsMoves = false): Opened {
  const counts = new Map<string, number>();
  const told: string[] = [];
  const tell = (message: string, fields = {}): void => void told.push(`${message} ${JSON.stringify(fields)}`);
  const tools = {
    log: { debug: tell, info: tell, warn: tell, error: tell },
    count: (name: string, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by),
  };
  return { file: openLineFile({ path, followsMoves, tools }), counts, told };
}

test('who names the same path shares the file, and the last one closes it', async () => {
  const path = fresh();
  const one = opened(path);
  const two = opened(path);
  one.file.write('1');
  two.file.write('2');
  one.file.close();
  two.file.write('3');
  await two.file.flush();
  assert.equal(readFileSync(path, 'utf8'), '1\n2\n3\n');
  assert.equal(statSync(path).mode & 0o777, 0o644 & ~process.umask());
  two.file.write('4');
  two.file.close();
  await until(() => readFileSync(path, 'utf8').endsWith('4\n'));
});

test('a missing folder is not made; lines are lost, counted, told once, and written once it is there', async () => {
  const path = join(folder, 'later', 'x.log');
  const { file, counts, told } = opened(path);
  for (const line of ['a', 'b']) {
    file.write(line);
    await file.flush();
  }
  assert.equal(counts.get('lines_lost'), 2);
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /log lines are lost .*ENOENT/);
  mkdirSync(join(folder, 'later'));
  // It would be tried again by itself after a second.
  reopenFiles();
  file.write('c');
  await file.flush();
  assert.equal(readFileSync(path, 'utf8'), 'c\n');
  assert.equal(told.length, 2);
  assert.match(told[1] ?? '', /log lines are written again/);
  file.close();
});

test('a folder, a full disk and a pipe without a reader lose their lines and say why', async () => {
  const pipe = fresh();
  execFileSync('mkfifo', [pipe]);
  const places: [string, RegExp][] = [
    [folder, /EISDIR/],
    [pipe, /ENXIO/],
    [join(pipe, 'x.log'), /ENOTDIR/],
    ...(existsSync('/dev/full') ? [['/dev/full', /ENOSPC/] as [string, RegExp]] : []),
  ];
  for (const [path, reason] of places) {
    const { file, counts, told } = opened(path);
    for (let index = 0; index < 3; index++) file.write('x');
    await file.flush();
    assert.equal(counts.get('lines_lost'), 3, path);
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', reason);
    file.close();
  }
});

test('a moved file is created again if configured, and no line is lost', async () => {
  const path = fresh();
  const { file } = opened(path, true);
  file.write('before');
  await file.flush();
  renameSync(path, `${path}.1`);
  let lines = 0;
  await until(async () => {
    file.write(`after ${++lines}`);
    await file.flush();
    return existsSync(path);
  });
  rmSync(path);
  await until(async () => {
    file.write(`again ${++lines}`);
    await file.flush();
    return existsSync(path);
  });
  assert.match(readFileSync(`${path}.1`, 'utf8'), /^before\n/);
  assert.match(readFileSync(path, 'utf8'), /^again \d+\n$/);
  file.close();
});

test('without it the moved file is written on, until the operator has the logs reopened', async () => {
  const path = fresh();
  const { file } = opened(path);
  file.write('1');
  await file.flush();
  renameSync(path, `${path}.1`);
  file.write('2');
  await file.flush();
  assert.equal(existsSync(path), false);
  reopenFiles();
  file.write('3');
  await file.flush();
  assert.equal(readFileSync(`${path}.1`, 'utf8'), '1\n2\n');
  assert.equal(readFileSync(path, 'utf8'), '3\n');
  file.close();
  rmSync(path);
  reopenFiles();
  assert.equal(existsSync(path), false);
});

const writer = `
  import { truncateSync, writeFileSync, writeSync } from 'node:fs';
  import { openLineFile } from ${JSON.stringify(new URL('./line-file.ts', import.meta.url).href)};
  const tools = { log: { warn() {}, error: (_, { reason }) => writeSync(1, reason + ' ') }, count: (_, lines) => writeSync(1, lines + ' ') };
  const [path, name] = process.argv.slice(1);
  const open = () => openLineFile({ path, followsMoves: false, tools });
`;

async function run(steps: string, limit: string, ...values: string[]): Promise<string> {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', '--input-type=module', '-e', writer + steps];
  const child = spawn('sh', ['-c', `ulimit -f ${limit}; exec "$@"`, 'sh', ...node, ...values], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let told = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  await once(child, 'close');
  return told;
}

test('several processes add to one file without mixing their lines', async () => {
  const path = fresh();
  const steps = `
    const file = open();
    for (let index = 0; index < 1000; index++) {
      file.write(JSON.stringify({ name, index, text: name.repeat(3000) }));
      if (index % 50 === 0) await file.flush();
    }
    await file.flush();
  `;
  const told = await Promise.all(['a', 'b', 'c'].map((name) => run(steps, 'unlimited', path, name)));
  assert.deepEqual(told, ['', '', '']);
  const next: Record<string, number> = {};
  for (const line of readFileSync(path, 'utf8').trimEnd().split('\n')) {
    const { name, index, text } = JSON.parse(line) as { name: string; index: number; text: string };
    assert.equal(index, next[name] ?? 0);
    assert.equal(text, name.repeat(3000));
    next[name] = index + 1;
  }
  assert.deepEqual(next, { a: 1000, b: 1000, c: 1000 });
});

test('a disk that fills in the middle of a line cuts only that line: the next one is whole', async () => {
  const path = fresh();
  // A file of this process cannot grow beyond the limit, of 16 blocks of 512 or 1024 bytes.
  const steps = `
    const file = open();
    for (const letter of ['1', '2', '3', '4', '5', '6']) {
      file.write(letter.repeat(3500));
      await file.flush();
    }
    truncateSync(path, 4000);
    file.write('after');
    await file.flush();
  `;
  const told = await run(steps, '16', path);
  assert.match(told, /^1 EFBIG: file too large, write (1 )+$/);
  assert.match(readFileSync(path, 'utf8'), /^1{3500}\n2{499}\nafter\n$/);
});

test('a file that may not be written loses its lines', async () => {
  const path = fresh();
  const steps = `
    writeFileSync(path, '', { mode: 0o444 });
    if (process.getuid() === 0) process.setuid(65534);
    const file = open();
    file.write('x');
    await file.flush();
  `;
  assert.match(await run(steps, 'unlimited', path), /^1 EACCES/);
});
