import { type HeaderNames, isFramingHeader } from '../../plugin-sdk/header-names.ts';
import { headerValue, headerValues } from '../../shared/http/header-block.ts';
import { BoundedCache } from '../../shared/util/bounded-cache.ts';
import { utf8AsLatin1 } from '../../shared/util/bytes/latin1.ts';

/** Never changed: a list is made with its first entry, because many requests change a single header. */
const none: never[] = [];

/** Changes to a header block, applied when the head is sent. */
export class HeaderEdits {
  /** Lower-case names whose lines in the block are dropped; a handful. */
  #dropped: string[] = none;
  /** Bit n: some dropped name has a length of n modulo 32. Spares most lines the lookup. */
  #lengths = 0;
  #added: AddedHeader[] = none;
  /** Set together, with nothing else changed: then the fields above are empty, and no object is made for each header. */
  #group: HeaderNames | null = null;
  #groupValues: readonly string[] = none;
  readonly #foldUnderscores: boolean;

  /**
   * `foldUnderscores`: a dropped `X-Name` also drops `X_Name`. For requests: many backends cannot tell the two apart,
   * so a client could smuggle in the value that a plugin replaced.
   */
  constructor(foldUnderscores = false) {
    this.#foldUnderscores = foldUnderscores;
  }

  copy(): HeaderEdits {
    this.#splitGroup();
    const copy = new HeaderEdits(this.#foldUnderscores);
    copy.#dropped = [...this.#dropped];
    copy.#added = [...this.#added];
    copy.#lengths = this.#lengths;
    return copy;
  }

  /** The changes since `before`, by lower-case name. */
  changesSince(before: HeaderEdits | null): ReadonlyMap<string, 'set' | 'added' | 'removed'> {
    const changes = new Map<string, 'set' | 'added' | 'removed'>();
    this.#splitGroup();
    if (before !== null) before.#splitGroup();
    const dropped = before === null ? [] : before.#dropped;
    const added = before === null ? [] : before.#added;
    for (const name of this.#dropped) if (!dropped.includes(name)) changes.set(name, 'removed');
    const known = new Set(added.map(({ lower, value }) => `${lower}:${value}`));
    for (const { lower, value } of this.#added) {
      if (known.has(`${lower}:${value}`)) continue;
      const folded = this.#folded(lower);
      if (folded !== lower) changes.delete(folded);
      changes.set(lower, this.#dropped.includes(folded) ? 'set' : 'added');
    }
    return changes;
  }

  get isEmpty(): boolean {
    return this.#dropped.length === 0 && this.#added.length === 0 && this.#group === null;
  }

  /** Replaces all values of a header by one. */
  set(name: string, value: string): void {
    const line = addedHeader(name, value);
    this.#splitGroup();
    this.#drop(line.lower);
    this.#append(line);
  }

  /** The same as `set` for a header without a line in the block, which is not searched. */
  setAbsent(name: string, value: string): void {
    const line = addedHeader(name, value);
    this.#splitGroup();
    if (this.#added.length > 0) this.#removeAdded(this.#folded(line.lower));
    this.#append(line);
  }

  /** The same for several headers, whose names were looked at before. */
  setAll(group: HeaderNames, values: readonly string[]): void {
    const { names, joints } = group;
    const valid = names.map((name, at) => validValue(name, values[at] ?? ''));
    const isFirst = this.isEmpty && joints !== null && !this.#foldUnderscores;
    this.#splitGroup();
    this.#group = group;
    this.#groupValues = valid;
    if (!isFirst) this.#splitGroup();
  }

  /** Adds a value to the existing ones. */
  add(name: string, value: string): void {
    const line = addedHeader(name, value);
    this.#splitGroup();
    this.#append(line);
  }

  remove(name: string): void {
    const lower = lowerName(name);
    this.#splitGroup();
    this.#drop(lower);
  }

  /** The block after the changes: lines left as they were, then lines added, each in order. */
  applyTo(block: string): string {
    return this.keptOf(block) + this.addedLines;
  }

  /** Lines are added, and the block stays as it is. */
  get onlyAdds(): boolean {
    return this.#dropped.length === 0 && this.#group === null;
  }

  /** The lines that follow the block after the changes. */
  get addedLines(): string {
    let text = '';
    if (this.#group !== null && this.#group.joints !== null) {
      const { joints } = this.#group;
      const values = this.#groupValues;
      for (let at = 0; at < values.length; at++) text += joints[at]! + values[at]!;
      return text + joints[values.length]!;
    }
    for (const { name, value } of this.#added) text += `${name}: ${value}\r\n`;
    return text;
  }

  /** The lines of the block that stay. */
  keptOf(block: string): string {
    if (this.#group !== null) return keptLines(block, this.#group.lower, lengthsOf(this.#group), false);
    return this.#dropped.length === 0 ? block : keptLines(block, this.#dropped, this.#lengths, this.#foldUnderscores);
  }

  /** First value after the changes, or null. `lowerName` must be lower case. */
  value(block: string, lowerName: string): string | null {
    this.#splitGroup();
    if (!this.#dropped.includes(this.#folded(lowerName))) {
      const kept = headerValue(block, lowerName);
      if (kept !== null) return kept;
    }
    return this.#added.find((line) => line.lower === lowerName)?.value ?? null;
  }

  /** All values after the changes, in order. `lowerName` must be lower case. */
  values(block: string, lowerName: string): readonly string[] {
    this.#splitGroup();
    const kept = this.#dropped.includes(this.#folded(lowerName)) ? [] : headerValues(block, lowerName);
    const added = this.#added.filter((line) => line.lower === lowerName);
    return added.length === 0 ? kept : [...kept, ...added.map((line) => line.value)];
  }

  /** Makes a change of each header of the group. */
  #splitGroup(): void {
    if (this.#group === null) return;
    const { names, lower } = this.#group;
    this.#group = null;
    for (let at = 0; at < names.length; at++) {
      this.#drop(lower[at]!);
      this.#append({ name: names[at]!, lower: lower[at]!, value: this.#groupValues[at]! });
    }
  }

  #drop(lower: string): void {
    const folded = this.#folded(lower);
    if (this.#dropped.length === 0) this.#dropped = [folded];
    else if (!this.#dropped.includes(folded)) this.#dropped.push(folded);
    this.#lengths |= lengthBit(folded);
    this.#removeAdded(folded);
  }

  #append(line: AddedHeader): void {
    if (this.#added.length === 0) this.#added = [line];
    else this.#added.push(line);
  }

  #removeAdded(folded: string): void {
    if (this.#added.length > 0) this.#added = this.#added.filter(({ lower }) => this.#folded(lower) !== folded);
  }

  #folded(lower: string): string {
    return this.#foldUnderscores ? withHyphens(lower) : lower;
  }
}

function withHyphens(lower: string): string {
  return lower.includes('_') ? lower.replaceAll('_', '-') : lower;
}

function lengthBit(name: string): number {
  return 1 << (name.length & 31);
}

const groupLengths = new WeakMap<HeaderNames, number>();

function lengthsOf(group: HeaderNames): number {
  let lengths = groupLengths.get(group);
  if (lengths === undefined) {
    lengths = group.lower.reduce((bits, name) => bits | lengthBit(name), 0);
    groupLengths.set(group, lengths);
  }
  return lengths;
}

/** `lengths`: the `lengthBit` of all dropped names. `folds`: a line's name is compared with `-` for `_`. */
function keptLines(block: string, dropped: readonly string[], lengths: number, folds: boolean): string {
  let kept = '';
  let keptFrom = 0;
  for (let start = 0; start < block.length; ) {
    const next = block.indexOf('\r\n', start) + 2;
    const colon = block.indexOf(':', start);
    if ((lengths & (1 << ((colon - start) & 31))) !== 0) {
      const lower = block.slice(start, colon).toLowerCase();
      if (dropped.includes(folds ? withHyphens(lower) : lower)) {
        kept += block.slice(keptFrom, start);
        keptFrom = next;
      }
    }
    start = next;
  }
  return keptFrom === 0 ? block : kept + block.slice(keptFrom);
}

interface AddedHeader {
  readonly name: string;
  readonly lower: string;
  readonly value: string;
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const control = /[\0-\x08\x0a-\x1f\x7f]/;
/** Values without a match are sent unchanged: nearly all. */
const unusual = /[^\t\x20-\x7e\x80-\xff]/;

function addedHeader(name: string, value: string): AddedHeader {
  return { name, lower: lowerName(name), value: validValue(name, value) };
}

/** One line of a header block. Throws when the name or the value contains what could end it. */
export function headerLine(name: string, value: string): string {
  lowerName(name);
  return `${name}: ${validValue(name, value)}\r\n`;
}

function validValue(name: string, value: string): string {
  if (value.length <= maxWalked && isPrintable(value)) return value;
  if (!unusual.test(value)) return value;
  if (control.test(value)) throw new Error(`header ${name}: the value has a control character`);
  return utf8AsLatin1(value);
}

/** Longer values are searched by an expression, which takes longer to start. */
const maxWalked = 20;

function isPrintable(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

interface KnownName {
  readonly lower: string;
  readonly framing: boolean;
}

/** Plugins set few names, with every request: each is validated once. */
const knownNames = new BoundedCache<string, KnownName>(1024);

function knownName(name: string): KnownName {
  let known = knownNames.get(name);
  if (known === undefined) {
    if (!token.test(name)) throw new Error(`${JSON.stringify(name)} is not a header name`);
    known = { lower: name.toLowerCase(), framing: isFramingHeader(name) };
    knownNames.set(name, known);
  }
  return known;
}

/** Throws when it is not a header name. */
export function lowerName(name: string): string {
  return knownName(name).lower;
}

/** The same as `isFramingHeader`, with names cached. Throws when it is not a header name. */
export function isFraming(name: string): boolean {
  return knownName(name).framing;
}

/** Throws when a plugin must not write this header. */
export function refuseFraming(name: string): void {
  if (isFraming(name)) throw new Error(`header ${name} is the gateway's own; a plugin cannot set it`);
}
