// Runs test files in the given order; `node --test` would sort them by their names.
//   node scripts/lib/run-test-files.ts [--grouped] <concurrency> <milliseconds for each test> <file>...
// --grouped: files that can share a process do.
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { groupTestFiles } from './test-groups.ts';

const grouped = process.argv[2] === '--grouped';
const [concurrency, timeout, ...files] = process.argv.slice(grouped ? 3 : 2);
run({ files: grouped ? groupTestFiles(files) : files, concurrency: Number(concurrency), timeout: Number(timeout) })
  .on('test:summary', ({ success }) => {
    if (!success) process.exitCode = 1;
  })
  .compose(new spec())
  .pipe(process.stdout);
