import { appendFileSync } from 'node:fs';
import { connect } from 'node:net';
import { definePlugin, httpProtocols, reply } from '../../src/plugin-sdk/index.ts';

interface Config {
  readonly does: string;
  readonly file: string;
  readonly port: number;
}

/** Calls in this thread. */
let calls = 0;

/** A plugin for tests: does something that others see, and answers with the number of its calls. */
export default definePlugin<Config>({
  name: 'busybody',
  version: '1.0.0',
  priority: 5,
  protocols: httpProtocols,
  schema: () => import('./busybody-schema.fixture.ts'),
  setup({ does, file, port }, tools) {
    return {
      access() {
        calls++;
        tools.count('calls');
        if (does === 'loop') for (;;);
        if (does === 'print') process.stdout.write('a busybody prints\n');
        if (does === 'log') tools.log.error('a busybody logs');
        if (does === 'file') appendFileSync(file, 'x');
        if (does === 'connect') connect(port, '127.0.0.1').on('error', () => {});
        if (does === 'exit') process.exit(1);
        if (does === 'crash') setImmediate(() => JSON.parse('{'));
        if (does === 'fill') fill();
        return does === 'count' ? reply({ status: 200, body: String(calls) }) : reply({ status: 202 });
      },
      log() {
        if (does === 'log-phase') appendFileSync(file, 'x');
      },
    };
  },
});

function fill(): void {
  const held: object[] = [];
  for (;;) held.push({ text: [held.length] });
}
