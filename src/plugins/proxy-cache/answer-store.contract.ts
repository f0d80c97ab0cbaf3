import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { afterEach, describe, it } from 'node:test';
import type { AnswerStore, StoredEntry } from './answer-store.ts';

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
  /** A store of this instance, over what all stores of this suite share; `worker`: another one is in another worker. */
  readonly open: (instance: string, worker: number) => AnswerStore;
  /** Bytes of a body that is too large. */
  readonly tooLarge: number;
  readonly skip?: string | false;
}

/** What every store does. */
export function answerStoreContract(name: string, { open, tooLarge, skip = false }: ContractOptions): void {
  describe(name, { skip }, () => {
    const opened: AnswerStore[] = [];
    let instances = 0;

    /** The same instance in several workers, with entries of its own. */
    function stores(count: number): readonly AnswerStore[] {
      instances++;
      return workers(`instance-${instances}`, count);
    }

    function workers(instance: string, count: number): readonly AnswerStore[] {
      const all = Array.from({ length: count }, (_, worker) => open(instance, worker));
      opened.push(...all);
      return all;
    }

    async function textAt(store: AnswerStore, key: string): Promise<string | null> {
      const entry = await store.get(keyOf(key));
      return entry === null ? null : Buffer.from(entry.body).toString();
    }

    afterEach(() => {
      for (const store of opened.splice(0)) store.close();
    });

    it('gives back what was put, in all workers', async () => {
      const [one, two] = stores(2) as [AnswerStore, AnswerStore];
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

    it('replaces an entry, also the copy that another worker has', async () => {
      const [one, two] = stores(2) as [AnswerStore, AnswerStore];
      for (let turn = 0; turn < 20; turn++) {
        await one.put(keyOf('k'), entryOf({ text: `turn ${turn}` }));
        assert.equal(await textAt(two, 'k'), `turn ${turn}`);
        assert.equal(await textAt(two, 'k'), `turn ${turn}`);
      }
    });

    it('does not give what is over', async () => {
      const [one, two] = stores(2) as [AnswerStore, AnswerStore];
      await one.put(keyOf('past'), entryOf({ expires: Date.now() - 1 }));
      assert.equal(await two.get(keyOf('past')), null);
      const expires = Date.now() + 40;
      await one.put(keyOf('soon'), entryOf({ expires }));
      await two.get(keyOf('soon'));
      while (Date.now() <= expires) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal(await one.get(keyOf('soon')), null);
      assert.equal(await two.get(keyOf('soon')), null);
    });

    it('takes nothing that is too large, and what was there before is gone', async () => {
      const [one] = stores(1) as [AnswerStore];
      await one.put(keyOf('k'), entryOf());
      assert.equal(await one.put(keyOf('k'), entryOf({ body: Buffer.alloc(tooLarge) })), false);
      assert.equal(await one.get(keyOf('k')), null);
      await one.put(keyOf('k'), entryOf());
      assert.equal(await one.put(keyOf('k'), entryOf({ head: 'x'.repeat(2 ** 20) })), false);
      assert.equal(await one.get(keyOf('k')), null);
    });

    it('purges one key', async () => {
      const [one, two] = stores(2) as [AnswerStore, AnswerStore];
      await one.put(keyOf('a'), entryOf());
      await one.put(keyOf('b'), entryOf());
      await one.get(keyOf('a'));
      assert.equal(await two.purge({ key: keyOf('a') }), 1);
      assert.equal(await two.purge({ key: keyOf('a') }), 0);
      assert.equal(await one.get(keyOf('a')), null);
      assert.equal(await textAt(one, 'b'), 'body');
    });

    it('purges by tag: whole tags, and only what still has them', async () => {
      const [one, two] = stores(2) as [AnswerStore, AnswerStore];
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

    it('purges by prefix, also where it ends in the middle of a name', async () => {
      const [one, two] = stores(2) as [AnswerStore, AnswerStore];
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

    it('purges many', async () => {
      const [one, two] = stores(2) as [AnswerStore, AnswerStore];
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

    it('keeps instances apart, and purges one or all of them', async () => {
      const [a] = workers('first', 1) as [AnswerStore];
      const [b] = workers('second', 1) as [AnswerStore];
      const [c] = workers('third', 1) as [AnswerStore];
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

    it('lets one lead, and the others wait until it has landed', async () => {
      const all = stores(3) as [AnswerStore, AnswerStore, AnswerStore];
      const key = keyOf('k');
      assert.equal(await all[0].board(key, 20_000), null);
      const waits = await Promise.all([...all, ...all].map((store) => store.board(key, 20_000)));
      const ends = waits.map((wait) => wait?.(10_000));
      all[1].land(key);
      assert.equal(await waits[1]?.(30), 'late', 'one that does not lead does not land');
      await all[0].put(key, entryOf());
      all[0].land(key);
      assert.deepEqual(await Promise.all(ends), Array(6).fill('done'));
      assert.equal(await textAt(all[2], 'k'), 'body');
      assert.equal(await all[2].board(key, 20_000), null, 'the next one leads again');
      all[2].land(key);
    });

    it('of many who come at once, one leads', async () => {
      const all = stores(3) as readonly AnswerStore[];
      const boarded = await Promise.all(Array.from({ length: 60 }, (_, at) => all[at % 3]?.board(keyOf('k'), 20_000)));
      assert.equal(boarded.filter((wait) => wait === null).length, 1);
      const leader = boarded.indexOf(null);
      const ends = Promise.all(boarded.map((wait) => wait?.(10_000)));
      all[leader % 3]?.land(keyOf('k'));
      assert.equal((await ends).filter((end) => end === 'done').length, 59);
    });

    it('follows a leader that does not land once its lease is over', async () => {
      const [one, two] = stores(2) as [AnswerStore, AnswerStore];
      const key = keyOf('k');
      assert.equal(await one.board(key, 60), null);
      const waits = [await one.board(key, 60), await two.board(key, 60)];
      assert.deepEqual(await Promise.all(waits.map((wait) => wait?.(10_000))), ['done', 'done']);
      assert.equal(await two.board(key, 20_000), null);
      one.land(key);
      assert.notEqual(await two.board(key, 20_000), null, 'it ends no flight of another');
      two.land(key);
    });
  });
}
