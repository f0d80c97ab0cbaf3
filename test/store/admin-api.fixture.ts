/** Run as a process of its own: the Admin API over a PostgreSQL, whose settings are the argument. Prints its URL. */
import { writeSync } from 'node:fs';
import { startTestAdmin } from '../../src/control/admin/admin.fixture.ts';

const admin = await startTestAdmin({ pg: JSON.parse(process.argv[2] ?? '') });
writeSync(1, `${admin.url}\n`);
