import { definePlugin, httpProtocols, reply } from '../../../src/plugin-sdk/index.ts';

const held: object[] = [];

/** A plugin for tests: answers with the number of its worker, or blocks the worker as the header `x-fail` says. */
export default definePlugin<{ readonly broken: boolean }>({
  name: 'stuck',
  version: '1.0.0',
  priority: 5,
  protocols: httpProtocols,
  schema: () => import('./faulty-schema.ts'),
  setup({ broken }, { node }) {
    // Only one of the workers, as a loop that depends on the data would.
    if (broken && node.worker === 0) loopForever();
    return {
      async access({ request }) {
        const fail = request.header('x-fail');
        if (fail === 'loop') loopForever();
        if (fail === 'regex') /^(?:a|a)*$/.test(`${'a'.repeat(60)}!`);
        if (fail === 'fill') fillHeap();
        if (fail === 'leak') setImmediate(leak);
        if (fail === 'hold') hold();
        if (fail === 'litter') litter();
        if (fail === 'later') {
          await new Promise((resolve) => setImmediate(resolve));
          loopForever();
        }
        return reply({ status: 200, body: `worker ${node.worker}` });
      },
    };
  },
});

function loopForever(): void {
  for (;;);
}

function fillHeap(): void {
  for (;;) held.push({ text: [held.length] });
}

/** More than 100 MB. */
function hold(): void {
  for (let count = 0; count < 3_000_000; count++) held.push({ text: count });
}

/** 120 MB of garbage in the old generation that V8 does not collect yet. */
function litter(): void {
  const arrays = Array.from({ length: 3 }, () => new Array<number>(5_000_000).fill(0.5));
  if (arrays.length !== 3) throw new Error('unreachable');
}

/** Fills the heap in small steps, without blocking the event loop. */
function leak(): void {
  for (let count = 0; count < 2000; count++) held.push({ text: [count, count] });
  setTimeout(leak, 1);
}
