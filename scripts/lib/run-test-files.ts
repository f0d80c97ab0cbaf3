// Runs test files in the given order; `node --test` would sort them by their names.
//   node scripts/lib/run-test-files.ts <concurrency> <milliseconds for each test> <file>...
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

const [concurrency, timeout, ...files] = process.argv.slice(2);
run({ files, concurrency: Number(concurrency), timeout: Number(timeout) })
  .on('test:summary', ({ success }) => {
    if (!success) process.exitCode = 1;
  })
  .compose(new spec())
  .pipe(process.stdout);
