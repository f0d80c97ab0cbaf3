import { run } from './cli/run.ts';

// A reader that closes the pipe (`sluicegate help | head -1`) is no reason to fail.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

process.exit(await run(process.argv.slice(2)));
