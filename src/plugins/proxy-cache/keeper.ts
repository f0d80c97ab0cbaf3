import { randomBytes } from 'node:crypto';
import type { HeaderBlock } from '../../plugin-sdk/index.ts';
import type { AnswerStore, StoredEntry } from './answer-store.ts';
import { type Finder, unkeptMark } from './finder.ts';
import { type Judgement, keptLines, tagsOf } from './judge.ts';
import { type Address, type Place, urlOf, variantKey } from './keys.ts';
import { moment } from './moment.ts';
import type { CachePolicy } from './policy.ts';
import { type Soon, soon } from './soon.ts';
import { type AnswerIndex, encodeAnswer, encodeIndex } from './stored-answer.ts';

/** An answer that is to be kept. */
export interface Keeping {
  readonly place: Place;
  readonly status: number;
  /** As the backend sent it. */
  readonly block: HeaderBlock;
  readonly body: Uint8Array;
  readonly judgement: Judgement;
  /** The moment when the backend was asked. */
  readonly moment: number;
  /** When it answered, milliseconds since the epoch. */
  readonly came: number;
  /** Tags when the lines name none: of the answer that this one confirms. */
  readonly tags?: readonly string[];
}

type Headers = (name: string) => readonly string[];

/** How much longer than its answers an index is kept, in milliseconds: it does not have to be written with each of them. */
const indexMargin = 86_400_000;

const nothing = new Uint8Array(0);

/** Stands for some time, with the moment, where something was made useless: what was asked for before is not to be kept. */
const uselessMark = 'P1 ';

/** How long, in milliseconds. */
const uselessFor = 10_000;

/** Puts answers where the finder looks for them. */
export class Keeper {
  readonly #store: AnswerStore;
  readonly #finder: Finder;
  readonly #policy: CachePolicy;

  constructor(store: AnswerStore, finder: Finder, policy: CachePolicy) {
    this.#store = store;
    this.#finder = finder;
    this.#policy = policy;
  }

  /**
   * The key at which such an answer is kept, and what has to stand at the key of its address to be found there. An answer that
   * is put under a key got before its address was purged is not found any more, unless it is the only one of its address. Null: it
   * is not to be kept. `asked`: the moment when the backend was.
   */
  reserve(place: Place, judgement: Judgement, asked: number, headers: Headers): Soon<string | null> {
    return soon(this.#store.get(place.key), (entry) =>
      isUseless(entry, asked) ? null : this.#reserveBeside(entry, place, judgement, headers),
    );
  }

  /** `key`: from `reserve`. False: there was no room. */
  put(key: string, keeping: Keeping): Soon<boolean> {
    const put = (): Soon<boolean> => this.#store.put(key, this.#entry(keeping));
    if (key !== keeping.place.key) return put();
    return soon(this.#store.get(key), (entry) => isUseless(entry, keeping.moment) || put());
  }

  /** What is kept of an address is of no use any more, nor what is on its way from there. */
  makeUseless(key: string, address: Address): Soon<boolean> {
    const entry = { body: nothing, expires: Date.now() + uselessFor, tags: [], url: urlOf(address) };
    return this.#store.put(key, { ...entry, head: `${uselessMark}${moment()}` });
  }

  /** Notes for some milliseconds that nothing is kept at this key. */
  markUnkept(key: string, place: Place, span: number): Soon<boolean> {
    return this.#store.put(key, {
      head: unkeptMark,
      body: nothing,
      expires: Date.now() + span,
      tags: [],
      url: urlOf(place.address),
    });
  }

  #reserveBeside(entry: StoredEntry | null, place: Place, judgement: Judgement, headers: Headers): Soon<string> {
    const value = entry === null ? null : this.#finder.value(entry);
    const forAll = place.who === '' || judgement.isPublic;
    if (value?.kind !== 'index' && forAll && judgement.vary.length === 0) {
      if (value === null || value.owner === place.owner) return place.key;
    }
    const known = value?.kind === 'index' ? value : null;
    const index = indexFor(known, judgement);
    const key = variantKey(place, judgement.isPublic ? '' : place.who, index.generation, index.names, headers);
    if (index === known && entry !== null && entry.expires >= judgement.expires) return key;
    const written = this.#store.put(place.key, {
      head: encodeIndex(index),
      body: nothing,
      expires: judgement.expires + indexMargin,
      tags: [],
      url: urlOf(place.address),
    });
    return written instanceof Promise ? written.then(() => key) : key;
  }

  #entry({ place, status, block, body, judgement, came, tags }: Keeping): StoredEntry {
    const named = tagsOf(block, this.#policy);
    return {
      head: encodeAnswer({
        ...judgement,
        status,
        storedAt: came,
        owner: place.owner,
        block: keptLines(block, this.#policy, came),
      }),
      body,
      expires: judgement.expires,
      tags: named.length > 0 ? named : (tags ?? []),
      url: urlOf(place.address),
    };
  }
}

function isUseless(entry: StoredEntry | null, asked: number): boolean {
  return entry?.head.startsWith(uselessMark) === true && Number(entry.head.slice(uselessMark.length)) >= asked;
}

/** The same object when nothing has to change. Names only come to it: answers of one address differ in what they name. */
function indexFor(known: AnswerIndex | null, judgement: Judgement): AnswerIndex {
  if (known === null) {
    const generation = randomBytes(9).toString('base64url');
    return { kind: 'index', generation, hasPublic: judgement.isPublic, names: judgement.vary };
  }
  const hasPublic = known.hasPublic || judgement.isPublic;
  const more = judgement.vary.some((name) => !known.names.includes(name));
  if (!more && hasPublic === known.hasPublic) return known;
  const names = more ? [...new Set([...known.names, ...judgement.vary])].sort() : known.names;
  return { ...known, hasPublic, names: names.length > mostNames ? judgement.vary : names };
}

/** Of all answers of one address. */
const mostNames = 32;
