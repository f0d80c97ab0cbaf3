import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openClient } from './raw-client.ts';
import { type Rig, startRig } from './rig.ts';

/** Messages that must be refused, by their fault. */
export type Refusals = Readonly<Record<string, string>>;

/** The default: a malformed request. */
export const badRequest: readonly number[] = [400];

/**
 * A suite over messages that a gateway must refuse: one answer with one of `statuses`, then the connection is closed,
 * and the backend receives no complete request.
 */
export function describeRefusals(title: string, cases: Refusals, statuses: readonly number[] = badRequest): void {
  describe(title, { concurrency: 32 }, () => {
    let rig: Rig;
    before(async () => {
      rig = await startRig();
    });
    after(async () => {
      const seen = rig.backend.received;
      await rig.close();
      assert.equal(seen, '', 'the backend saw bytes of a refused request');
    });
    for (const [what, bytes] of Object.entries(cases)) {
      it(`refuses ${what}`, () => assertRefused(rig.port, bytes, statuses));
    }
  });
}

/** The client keeps its side open, because the gateway has to close. */
export async function assertRefused(
  port: number,
  bytes: string,
  statuses: readonly number[] = badRequest,
): Promise<void> {
  using client = await openClient(port);
  client.write(bytes);
  const answer = await client.readResponse();
  assert.ok(statuses.includes(answer.status), `status ${answer.status}, expected ${statuses.join(' or ')}`);
  assert.equal(answer.get('connection')?.toLowerCase(), 'close');
  assert.equal(answer.complete, true);
  const { text } = await client.readToEnd();
  assert.equal(text, '', 'something followed the refusal');
}
