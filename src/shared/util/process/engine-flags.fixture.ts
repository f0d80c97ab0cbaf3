import { parentPort } from 'node:worker_threads';
import { compileRegex } from '../linear-regex.ts';
import { collectGarbage, hideGarbageCollector } from './collect-when-idle.ts';

/** A thread that uses V8's flags as workers do, many times, while others do the same. */
hideGarbageCollector();
for (let round = 0; round < 40; round++) {
  collectGarbage('regular');
  compileRegex('(?:a|ab)(?:c|bcd)*$').test('abcd');
}
parentPort?.postMessage(Reflect.get(globalThis, 'gc') === undefined);
