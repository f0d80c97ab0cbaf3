import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { until } from '../../../../test/support/until.ts';
import { preciseNow } from './precise-now.ts';
import type { NotedPurge, PurgeLog } from './purge-log.ts';

export interface PurgeLogContractOptions {
  /** Opens a log; all logs of a suite share their backend. */
  readonly open: (instance: string) => PurgeLog;
  /** More purges than are known one by one. */
  readonly tooMany: number;
  readonly skip?: string | false;
}

/** The behaviour of every log of purges. */
export function purgeLogContract(name: string, { open, tooMany, skip = false }: PurgeLogContractOptions): void {
  describe(name, { skip }, () => {
    const opened: PurgeLog[] = [];
    let instances = 0;
    const entry = { tags: ['a', 'é b'], url: 'http://example.com/list?x=1' };

    function logs(count: number): readonly PurgeLog[] {
      instances++;
      const all = Array.from({ length: count }, () => open(`instance-${name}-${instances}`));
      opened.push(...all);
      return all;
    }

    /** Past the resolution of any clock. */
    async function later(): Promise<number> {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return preciseNow();
    }

    afterEach(() => {
      for (const log of opened.splice(0)) log.close();
    });

    const covering: readonly NotedPurge[] = [
      { key: 'k' },
      { tag: 'a' },
      { tag: 'é b' },
      { prefix: 'http://example.com/li' },
      { prefix: '' },
      { instance: 'any' },
    ];
    const others: readonly NotedPurge[] = [
      { key: 'x' },
      { tag: 'b' },
      { tag: 'é' },
      { tag: 'http://example.com/list' },
      { prefix: 'http://example.com/list?x=12' },
      { prefix: 'k' },
    ];

    for (const target of covering) {
      it(`covers what was requested before a purge, not after it: ${JSON.stringify(target)}`, async () => {
        const [writer, reader] = logs(2) as [PurgeLog, PurgeLog];
        const before = preciseNow();
        assert.equal(await reader.hasPurged('k', entry, before), false);
        await later();
        await writer.note(target);
        const after = await later();
        assert.equal(await reader.hasPurged('k', entry, before), true);
        // To be on the safe side, a backend that answers late makes a request seem older than it is.
        await until(async () => !(await reader.hasPurged('k', entry, after)));
      });
    }

    it('covers nothing else', async () => {
      const [log] = logs(1) as [PurgeLog];
      const before = preciseNow();
      await later();
      for (const target of others) await log.note(target);
      assert.equal(await log.hasPurged('k', entry, before), false);
    });

    it('keeps instances apart', async () => {
      const [one] = logs(1) as [PurgeLog];
      const [other] = logs(1) as [PurgeLog];
      const before = preciseNow();
      await later();
      await one.note({ tag: 'a' });
      assert.equal(await other.hasPurged('k', entry, before), false);
      assert.equal(await one.hasPurged('k', entry, before), true);
    });

    it('covers everything that was requested before purges that it no longer knows', async () => {
      const [log] = logs(1) as [PurgeLog];
      const before = preciseNow();
      await later();
      for (let at = 0; at < tooMany; at++) await log.note({ tag: `other ${at}` });
      const after = await later();
      assert.equal(await log.hasPurged('k', entry, before), true);
      assert.equal(await log.hasPurged('k', entry, after), false);
      await log.note({ tag: 'a' });
      assert.equal(await log.hasPurged('k', entry, after), true);
    });
  });
}
