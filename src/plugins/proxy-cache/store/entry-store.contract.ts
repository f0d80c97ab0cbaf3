import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { afterEach, describe, it } from 'node:test';
import type { EntryStore, StoredEntry } from './entry-store.ts';

export const keyOf = (name: string): string => hash('sha256', name, 'hex');

export function entryOf(more: Partial<StoredEntry> & { readonly text?: string } = {}): StoredEntry {
  const { text = 'body', ...rest } = more;
  return {
    head: 'A1 200\nContent-Type: text/plain\r\nX-Name: \u00e9\u20ac\r\n',
    body: Buffer.from(text),
    expires: Date.now() + 60_000,
    tags: [],
    url: 'http://example.com/',
    ...rest,
  };
}

export interface ContractOptions {
  /** Opens a store; all stores of a suite share their backend. `worker`: a different number means a different worker. */
  readonly open: (instance: string, worker: number) => EntryStore;
  /** Bytes of a body that does not fit. */
  readonly tooLarge: number;
  readonly skip?: string | false;
}

/** The behaviour of every backend. */
export function entryStoreContract(name: string, { open, tooLarge, skip = false }: ContractOptions): void {
  describe(name, { skip }, () => {
    const opened: EntryStore[] = [];
    let instances = 0;

    /** Stores of several workers for a new instance. */
    function stores(count: number): readonly EntryStore[] {
      instances++;
      return workers(`instance-${instances}`, count);
    }

    function workers(instance: string, count: number): readonly EntryStore[] {
      const all = Array.from({ length: count }, (_, worker) => open(instance, worker));
      opened.push(...all);
      return all;
    }

    async function textAt(store: EntryStore, key: string): Promise<string | null> {
      const entry = await store.get(keyOf(key));
      return entry === null ? null : Buffer.from(entry.body).toString();
    }

    afterEach(() => {
      for (const store of opened.splice(0)) store.close();
    });

    it('returns what was put, in all workers', async () => {
      const [one, two] = stores(2) as [EntryStore, EntryStore];
      const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * 7) % 256));
      for (const body of [Buffer.alloc(0), Buffer.from([0, 255, 13, 10]), bytes, new Uint8Array([1, 2, 200])]) {
        const entry = entryOf({ body, tags: ['a', 'b c', '\u00e9'], url: 'https://example.com/a?b=%20' });
        assert.equal(await one.put(keyOf('k'), entry), true);
        for (const store of [two, one, two, one]) {
          const found = await store.get(keyOf('k'));
          assert.deepEqual({ ...found, body: Buffer.from(found?.body ?? []) }, { ...entry, body: Buffer.from(body) });
        }
      }
      assert.equal(await one.get(keyOf('other')), null);
    });

    it('replaces an entry, and the copy of another worker', async () => {
      const [one, two] = stores(2) as [EntryStore, EntryStore];
      for (let round = 0; round < 20; round++) {
        await one.put(keyOf('k'), entryOf({ text: `round ${round}` }));
        assert.equal(await textAt(two, 'k'), `round ${round}`);
        assert.equal(await textAt(two, 'k'), `round ${round}`);
      }
    });

    it('does not return expired entries', async () => {
      const [one, two] = stores(2) as [EntryStore, EntryStore];
      await one.put(keyOf('past'), entryOf({ expires: Date.now() - 1 }));
      assert.equal(await two.get(keyOf('past')), null);
      const expires = Date.now() + 40;
      await one.put(keyOf('soon'), entryOf({ expires }));
      await two.get(keyOf('soon'));
      while (Date.now() <= expires) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal(await one.get(keyOf('soon')), null);
      assert.equal(await two.get(keyOf('soon')), null);
    });

    it('refuses an entry that is too large, and removes the previous one', async () => {
      const [one] = stores(1) as [EntryStore];
      await one.put(keyOf('k'), entryOf());
      assert.equal(await one.put(keyOf('k'), entryOf({ body: Buffer.alloc(tooLarge) })), false);
      assert.equal(await one.get(keyOf('k')), null);
      await one.put(keyOf('k'), entryOf());
      assert.equal(await one.put(keyOf('k'), entryOf({ head: 'x'.repeat(2 ** 20) })), false);
      assert.equal(await one.get(keyOf('k')), null);
    });

    it('purges one key', async () => {
      const [one, two] = stores(2) as [EntryStore, EntryStore];
      await one.put(keyOf('a'), entryOf());
      await one.put(keyOf('b'), entryOf());
      await one.get(keyOf('a'));
      assert.equal(await two.purge({ key: keyOf('a') }), 1);
      assert.equal(await two.purge({ key: keyOf('a') }), 0);
      assert.equal(await one.get(keyOf('a')), null);
      assert.equal(await textAt(one, 'b'), 'body');
    });

    it('purges by whole tags, and only entries that still have them', async () => {
      const [one, two] = stores(2) as [EntryStore, EntryStore];
      const tagged = { a: ['x'], b: ['x', 'y'], c: ['xy'], d: ['y'], e: [] };
      for (const [key, tags] of Object.entries(tagged)) await one.put(keyOf(key), entryOf({ text: key, tags }));
      await one.put(keyOf('was'), entryOf({ tags: ['x'] }));
      await one.put(keyOf('was'), entryOf({ text: 'was', tags: ['z'] }));
      assert.equal(await two.purge({ tag: 'x' }), 2);
      assert.equal(await two.purge({ tag: 'x' }), 0);
      const left = await Promise.all([...Object.keys(tagged), 'was'].map((key) => textAt(one, key)));
      assert.deepEqual(left, [null, null, 'c', 'd', 'e', 'was']);
      assert.equal(await two.purge({ tag: 'y' }), 1);
    });

    it('purges by prefix, which may end in the middle of a path segment', async () => {
      const [one, two] = stores(2) as [EntryStore, EntryStore];
      const urls = [
        'http://a/l',
        'http://a/list',
        'http://a/list?x=1',
        'http://a/m',
        'http://ab/list',
        'https://a/list',
      ];
      for (const url of urls) await one.put(keyOf(url), entryOf({ text: url, url }));
      await one.put(keyOf('moved'), entryOf({ url: 'http://a/list/old' }));
      await one.put(keyOf('moved'), entryOf({ text: 'moved', url: 'http://a/new' }));
      assert.equal(await two.purge({ prefix: 'http://a/li' }), 2);
      const left = await Promise.all([...urls, 'moved'].map((key) => textAt(one, key)));
      assert.deepEqual(left, [urls[0], null, null, urls[3], urls[4], urls[5], 'moved']);
      assert.equal(await two.purge({ prefix: 'http://a/' }), 3);
    });

    it('purges many entries', async () => {
      const [one, two] = stores(2) as [EntryStore, EntryStore];
      const count = 450;
      const put = (at: number): boolean | Promise<boolean> =>
        one.put(
          keyOf(`${at}`),
          entryOf({ text: '', tags: ['all', `t${at % 3}`], url: `http://example.com/${at % 2}/${at}` }),
        );
      await Promise.all(Array.from({ length: count }, (_, at) => put(at)));
      assert.equal(await two.purge({ tag: 't0' }), count / 3);
      assert.equal(await two.purge({ prefix: 'http://example.com/1' }), count / 3);
      assert.equal(await two.purge({ tag: 'all' }), count / 3);
    });

    it('separates instances, and purges one or all of them', async () => {
      const [a] = workers('first', 1) as [EntryStore];
      const [b] = workers('second', 1) as [EntryStore];
      const [c] = workers('third', 1) as [EntryStore];
      const fill = async (): Promise<void> => {
        for (const store of [a, b, c]) await store.put(keyOf('k'), entryOf({ tags: ['t'] }));
      };
      await fill();
      await b.put(keyOf('k'), entryOf({ text: 'other', tags: ['t'] }));
      assert.deepEqual([await textAt(a, 'k'), await textAt(b, 'k')], ['body', 'other']);
      assert.equal(await a.purge({ tag: 't' }), 1);
      assert.equal(await a.purge({ prefix: '' }), 0);
      assert.equal(await textAt(b, 'k'), 'other');
      assert.equal(await a.purge({ instance: 'second' }), 1);
      assert.deepEqual([await textAt(b, 'k'), await textAt(c, 'k')], [null, 'body']);
      await fill();
      assert.ok((await a.purge('all')) >= 3);
      for (const store of [a, b, c]) assert.equal(await textAt(store, 'k'), null);
    });

    it('gives the lock to one caller; the others wait until it is released', async () => {
      const all = stores(3) as [EntryStore, EntryStore, EntryStore];
      const key = keyOf('k');
      assert.equal(await all[0].acquireLock(key, 20_000), null);
      const waits = await Promise.all([...all, ...all].map((store) => store.acquireLock(key, 20_000)));
      const ends = waits.map((wait) => wait?.(10_000));
      all[1].releaseLock(key);
      assert.equal(await waits[1]?.(30), 'late', 'only the holder releases the lock');
      await all[0].put(key, entryOf());
      all[0].releaseLock(key);
      assert.deepEqual(await Promise.all(ends), Array(6).fill('done'));
      assert.equal(await textAt(all[2], 'k'), 'body');
      assert.equal(await all[2].acquireLock(key, 20_000), null, 'the next caller gets the lock');
      all[2].releaseLock(key);
    });

    it('gives the lock to one of many simultaneous callers', async () => {
      const all = stores(3) as readonly EntryStore[];
      const locks = await Promise.all(
        Array.from({ length: 60 }, (_, at) => all[at % 3]?.acquireLock(keyOf('k'), 20_000)),
      );
      assert.equal(locks.filter((wait) => wait === null).length, 1);
      const holder = locks.indexOf(null);
      const ends = Promise.all(locks.map((wait) => wait?.(10_000)));
      all[holder % 3]?.releaseLock(keyOf('k'));
      assert.equal((await ends).filter((end) => end === 'done').length, 59);
    });

    it('gives the lock to another caller when the lease of the holder has ended', async () => {
      const [one, two] = stores(2) as [EntryStore, EntryStore];
      const key = keyOf('k');
      assert.equal(await one.acquireLock(key, 60), null);
      const waits = [await one.acquireLock(key, 60), await two.acquireLock(key, 60)];
      assert.deepEqual(await Promise.all(waits.map((wait) => wait?.(10_000))), ['done', 'done']);
      assert.equal(await two.acquireLock(key, 20_000), null);
      one.releaseLock(key);
      assert.notEqual(await two.acquireLock(key, 20_000), null, 'a former holder cannot release the lock of another');
      two.releaseLock(key);
    });
  });
}
