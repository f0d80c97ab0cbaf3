import { startItems } from './items.ts';
import type { ExampleBackend } from './json-backend.ts';
import { startOrders } from './orders.ts';
import { startUsers } from './users.ts';

// `npm run backends`: the backends of the README's tour, on port 9001 and the two above, or from `PORT` on.
const first = Number(process.env['PORT'] ?? '9001');
const backends: ExampleBackend[] = [];
try {
  if (!Number.isInteger(first) || first < 0 || first > 65_533)
    throw new Error(`PORT is not a port: ${process.env['PORT']}`);
  for (const start of [startUsers, startOrders, startItems]) {
    backends.push(await start(first === 0 ? 0 : first + backends.length));
  }
  for (const { name, url } of backends) process.stdout.write(`${name.padEnd(6)}  ${url}\n`);
  process.stdout.write('Ctrl-C ends them.\n');
} catch (error) {
  const inUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  const advice = inUse ? '; choose other ports: PORT=9101 npm run backends' : '';
  process.stderr.write(`backends: ${error instanceof Error ? error.message : String(error)}${advice}\n`);
  process.exit(1);
}
