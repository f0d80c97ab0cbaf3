import { parentPort } from 'node:worker_threads';
import { collectGarbage, hideGarbageCollector } from './collect-at-rest.ts';
import { compileRegex } from './linear-regex.ts';

/** A thread that does what workers do with V8's flags, many times, while others do the same. */
hideGarbageCollector();
for (let turn = 0; turn < 40; turn++) {
  collectGarbage('regular');
  compileRegex('(?:a|ab)(?:c|bcd)*$').test('abcd');
}
parentPort?.postMessage(Reflect.get(globalThis, 'gc') === undefined);
