/** Run as a process of its own: inserts rows until it is killed, printing the id of each once the store has confirmed it. */
import { writeSync } from 'node:fs';
import { createStore } from './create-store.ts';
import { testDefinitions, testRow } from './store.fixture.ts';

const file = process.argv[2];
if (file === undefined) throw new Error('which file?');
writeSync(1, 'started\n');
const store = await createStore({ kind: 'sqlite', file, definitions: testDefinitions });
await store.migrate();
for (;;) {
  const row = testRow({ name: crypto.randomUUID(), padding: 'x'.repeat(2000), tags: ['some', 'tags'] });
  await store.write((writer) => writer.insert('services', row));
  writeSync(1, `${row.id}\n`);
}
