import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fuzz } from './fuzz.ts';

/** A bounded run; `npm run fuzz -- --seconds 3600` is the long one. */
const seconds = Number(process.env['FUZZ_SECONDS'] ?? 4);

describe("the gateway's parsers compared with Node's", () => {
  for (const seed of [20260728, Math.floor(Math.random() * 2 ** 31)]) {
    it(`refuse what it refuses, and read the same from what both accept (seed ${seed})`, async (test) => {
      const report = await fuzz({ seed, runs: Number.MAX_SAFE_INTEGER, seconds, maxFindings: 5 });
      test.diagnostic(`seed ${seed}: ${report.runs} runs, ${report.agreedMessages} messages read the same way`);
      assert.deepEqual(report.findings, [], `npm run fuzz -- --seed ${seed}`);
      // A generator of only refused messages would prove nothing.
      assert.ok(report.agreedMessages > report.runs / 10);
    });
  }
});
