import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareOnce } from '../fuzz.ts';
import { NodeRequestParser } from '../node-parser.ts';
import { readRequests, readResponse } from '../our-parser.ts';
import { regressionCases } from './cases.ts';

describe('cases found by fuzzing', () => {
  const node = new NodeRequestParser();
  for (const { name, kind, bytes, expected } of regressionCases) {
    it(name, async () => {
      const reading = kind === 'request' ? readRequests(bytes) : readResponse(bytes);
      assert.equal(reading.messages.length > 0 ? 'accepted' : 'refused', expected);
      const { finding } = await compareOnce(kind, bytes, node);
      assert.equal(finding, null, finding?.detail);
    });
  }
});
