import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openLogSink } from './log-sink.ts';

const folder = mkdtempSync(join(tmpdir(), 'log-sink-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const fresh = (): string => join(folder, `${++files}.log`);

function namedPipe(): string {
  const path = fresh();
  execFileSync('mkfifo', [path]);
  return path;
}

/** Milliseconds that the calls took on this thread. */
function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

test('lines arrive in order, in a file that is appended to', async () => {
  const path = fresh();
  for (const part of ['a', 'b']) {
    const sink = openLogSink(path);
    for (let index = 0; index < 3; index++) sink.write(`${part}${index} é`);
    await sink.close();
    assert.equal(sink.dropped, 0);
  }
  assert.equal(readFileSync(path, 'utf8'), 'a0 é\na1 é\na2 é\nb0 é\nb1 é\nb2 é\n');
});

test('a missing directory is created', async () => {
  const path = join(folder, 'deep', 'er', 'x.log');
  const sink = openLogSink(path);
  sink.write('x');
  await sink.close();
  assert.equal(readFileSync(path, 'utf8'), 'x\n');
});

test('a log that is off accepts nothing', async () => {
  const sink = openLogSink('off');
  assert.equal(sink.enabled, false);
  sink.write('x');
  await sink.close();
  assert.equal(sink.dropped, 0);
});

test('many lines are written without waiting for the interval', async () => {
  const path = fresh();
  const sink = openLogSink(path, { interval: 3_600_000, flushSize: 10 });
  sink.write('0123456789');
  await sink.flush();
  assert.equal(readFileSync(path, 'utf8'), '0123456789\n');
  await sink.close();
});

test('after a rotation lines go to the new file and none is lost', async () => {
  const path = fresh();
  const sink = openLogSink(path);
  for (let index = 0; index < 100; index++) {
    sink.write(String(index));
    if (index % 25 === 24) {
      renameSync(path, `${path}.${index}`);
      sink.reopen();
    }
  }
  await sink.close();
  const all = [24, 49, 74, 99].map((index) => readFileSync(`${path}.${index}`, 'utf8')).join('');
  assert.deepEqual(
    (all + readFileSync(path, 'utf8'))
      .trim()
      .split('\n')
      .map(Number)
      .toSorted((a, b) => a - b),
    Array.from({ length: 100 }, (_, index) => index),
  );
  assert.equal(sink.dropped, 0);
});

test('a pipe whose reader never reads does not block; lines beyond the buffer are dropped and counted', async () => {
  const path = namedPipe();
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const sink = openLogSink(path, { capacity: 100_000, flushSize: 1000, interval: 1 });
  const line = 'x'.repeat(99);
  const spent = timed(() => {
    for (let index = 0; index < 10_000; index++) sink.write(line);
  });
  assert.ok(spent < 500, `took ${spent} ms`);
  const closing = timed(() => void sink.close(50));
  assert.ok(closing < 500);
  await sink.close();
  closeSync(reader);
  assert.ok(sink.dropped > 8000, String(sink.dropped));
});

test('a slow reader receives whole lines, in order', async () => {
  const path = namedPipe();
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const sink = openLogSink(path, { interval: 1 });
  const lines = Array.from({ length: 5000 }, (_, index) => `${index} ${'y'.repeat(index % 300)}`);
  for (const line of lines) sink.write(line);
  const chunk = Buffer.alloc(16_384);
  let text = '';
  const done = sink.flush().then(() => true);
  for (let ended = false; !ended; ended = await Promise.race([done, immediate()])) text += readAll(reader, chunk);
  text += readAll(reader, chunk);
  await sink.close();
  closeSync(reader);
  assert.equal(text, `${lines.join('\n')}\n`);
  assert.equal(sink.dropped, 0);
});

test('a pipe without a reader, and one whose reader has closed, drop their lines', async () => {
  const path = namedPipe();
  const unopened = openLogSink(path);
  unopened.write('a');
  await unopened.close();
  assert.equal(unopened.dropped, 1);

  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const broken = openLogSink(path);
  closeSync(reader);
  broken.write('a');
  broken.write('b');
  await broken.flush();
  assert.equal(broken.dropped, 2);
  await broken.close();
});

test('a full disk drops lines, counts them, and the sink continues', {
  skip: existsSync('/dev/full') ? false : 'needs /dev/full',
}, async () => {
  const sink = openLogSink('/dev/full');
  for (let round = 1; round <= 3; round++) {
    sink.write('a');
    sink.write('b');
    await sink.flush();
    assert.equal(sink.dropped, round * 2);
  }
  await sink.close();
});

test('a file that cannot be opened drops lines', async () => {
  const sink = openLogSink(join(fresh(), '..', '.', 'x'.repeat(300)));
  sink.write('a');
  await sink.close();
  assert.equal(sink.dropped, 1);
});

test('lines after the close are dropped', async () => {
  const sink = openLogSink(fresh());
  await sink.close();
  sink.write('x');
  assert.equal(sink.dropped, 1);
});

const script = `
  import { openLogSink } from ${JSON.stringify(new URL('./log-sink.ts', import.meta.url).href)};
  const sink = openLogSink('/dev/stdout', { capacity: 1_000_000, interval: 1 });
  let longest = 0;
  let last = performance.now();
  for (let round = 0; round < 200; round++) {
    for (let index = 0; index < 100; index++) sink.write('z'.repeat(99));
    await new Promise((resolve) => setImmediate(resolve));
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }
  await sink.close(Number(process.argv[1]));
  process.stderr.write(JSON.stringify({ longest, dropped: sink.dropped }));
  process.exit();
`;

async function runWithStdout(
  stdout: 'pipe' | number,
  read: boolean,
  wait: number,
): Promise<{ longest: number; dropped: number; out: string }> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script, String(wait)],
    {
      stdio: ['ignore', stdout, 'pipe'],
    },
  );
  let out = '';
  let report = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    report += text;
  });
  if (read) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
  }
  await once(child, 'exit');
  child.stdout?.destroy();
  return { ...JSON.parse(report), out };
}

test('standard output with a reader gets everything', async () => {
  const { dropped, out } = await runWithStdout('pipe', true, 5000);
  assert.equal(out.split('\n').length - 1 + dropped, 20_000);
  assert.ok(dropped < 20_000);
});

test('standard output without a reader does not block the thread', async () => {
  const { longest, dropped } = await runWithStdout('pipe', false, 100);
  assert.ok(longest < 1000, `${longest} ms`);
  assert.ok(dropped > 0);
});

test('standard output on a pipe without a reader does not block the thread', async () => {
  const path = namedPipe();
  const both = openSync(path, constants.O_RDWR);
  const { longest, dropped } = await runWithStdout(both, false, 100);
  closeSync(both);
  assert.ok(longest < 1000, `${longest} ms`);
  assert.ok(dropped > 0);
});

function immediate(): Promise<false> {
  return new Promise((resolve) => {
    setImmediate(() => resolve(false));
  });
}

function readAll(fd: number, chunk: Buffer): string {
  let text = '';
  try {
    for (let length = readSync(fd, chunk); length > 0; length = readSync(fd, chunk))
      text += chunk.toString('latin1', 0, length);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
  }
  return text;
}
