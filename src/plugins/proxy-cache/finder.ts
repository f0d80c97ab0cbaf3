import type { AnswerStore, StoredEntry } from './answer-store.ts';
import { type Place, variantKey } from './keys.ts';
import type { Soon } from './soon.ts';
import { type AnswerIndex, decode, type StoredAnswer } from './stored-answer.ts';

/** An answer that is there. */
export interface Kept {
  readonly key: string;
  readonly entry: StoredEntry;
  readonly answer: StoredAnswer;
}

export interface Finding {
  readonly kept: Kept | null;
  /** Where the answer to the request is, or would be, as far as one can tell. */
  readonly key: string;
  /** The index says so. */
  readonly indexed: boolean;
  /** What is at this key is known not to be kept: nobody waits for it. */
  readonly unkept: boolean;
}

type Headers = (name: string) => readonly string[];

/** Where the only answer of an address would be; what is somebody's is waited for by nobody else. */
function placeOf(place: Place): string {
  return place.who === '' ? place.key : privateKey(place);
}

function privateKey(place: Place): string {
  return variantKey(place, place.who, '', [], noHeaders);
}

const noHeaders = (): readonly string[] => [];

/** Marks, for some seconds, that what a backend answers here is not kept. */
export const unkeptMark = 'U1';

/** Looks for answers: at the key of the address, and by way of the index where there is one. */
export class Finder {
  readonly #store: AnswerStore;
  /** Stores that remember entries give the same object as long as nothing has changed. */
  readonly #read = new WeakMap<StoredEntry, StoredAnswer | AnswerIndex | null>();

  constructor(store: AnswerStore) {
    this.#store = store;
  }

  find(place: Place, headers: Headers): Soon<Finding> {
    const entry = this.#store.get(place.key);
    return entry instanceof Promise
      ? entry.then((there) => this.#atAddress(place, there, headers))
      : this.#atAddress(place, entry, headers);
  }

  /** What an entry says, read once. */
  value(entry: StoredEntry): StoredAnswer | AnswerIndex | null {
    const known = this.#read.get(entry);
    if (known !== undefined) return known;
    const value = decode(entry.head);
    this.#read.set(entry, value);
    return value;
  }

  #atAddress(place: Place, entry: StoredEntry | null, headers: Headers): Soon<Finding> {
    const value = entry === null ? null : this.value(entry);
    if (entry === null || value === null) {
      return { kept: null, key: placeOf(place), indexed: false, unkept: entry?.head === unkeptMark };
    }
    if (value.kind === 'index') return this.#variant(place, value, headers);
    const mine = value.owner === place.owner && (place.who === '' || value.isPublic);
    // Another's answer is there: what comes now will make an index of it.
    if (!mine) return { kept: null, key: privateKey(place), indexed: false, unkept: false };
    return { kept: { key: place.key, entry, answer: value }, key: place.key, indexed: false, unkept: false };
  }

  #variant(place: Place, index: AnswerIndex, headers: Headers): Soon<Finding> {
    const own = variantKey(place, place.who, index.generation, index.names, headers);
    const found = this.#at(own, place);
    if (place.who === '' || !index.hasPublic) return found;
    const shared = variantKey(place, '', index.generation, index.names, headers);
    const orShared = (mine: Finding): Soon<Finding> => {
      if (mine.kept !== null) return mine;
      const common = this.#at(shared, place);
      const chosen = (theirs: Finding): Finding => (theirs.kept?.answer.isPublic === true ? theirs : mine);
      return common instanceof Promise ? common.then(chosen) : chosen(common);
    };
    return found instanceof Promise ? found.then(orShared) : orShared(found);
  }

  #at(key: string, place: Place): Soon<Finding> {
    const read = (entry: StoredEntry | null): Finding => {
      const value = entry === null ? null : this.value(entry);
      if (entry === null || value?.kind !== 'answer' || value.owner !== place.owner) {
        return { kept: null, key, indexed: true, unkept: entry?.head === unkeptMark };
      }
      return { kept: { key, entry, answer: value }, key, indexed: true, unkept: false };
    };
    const entry = this.#store.get(key);
    return entry instanceof Promise ? entry.then(read) : read(entry);
  }
}
