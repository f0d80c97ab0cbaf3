import { resolveDirectly } from './shared/util/process/resolve-directly.ts';

resolveDirectly();
const { run } = await import('./cli/run.ts');

// A reader that closes the pipe (`sluicegate help | head -1`) is no reason to fail.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

const code = await run(process.argv.slice(2));
// Of a long output, much is still in memory when the reader is slow.
await new Promise((resolve) => process.stdout.write('', resolve));
process.exit(code);
