import { framingHeaders, type HeaderNames } from '../../plugin-sdk/header-names.ts';
import { headerValue, headerValues } from '../../shared/http/header-block.ts';
import { BoundedCache } from '../../shared/util/bounded-cache.ts';
import { utf8AsLatin1 } from '../../shared/util/bytes/latin1.ts';

/** Changes to a header block, applied when the head is sent. */
export class HeaderEdits {
  /** Lower-case names whose lines in the block are dropped; a handful. */
  readonly #dropped: string[] = [];
  /** Bit n: some dropped name has a length of n modulo 32. Spares most lines the lookup. */
  #lengths = 0;
  readonly #added: AddedHeader[] = [];
  readonly #foldUnderscores: boolean;

  /**
   * `foldUnderscores`: a dropped `X-Name` also drops `X_Name`. For requests: many backends cannot tell the two apart,
   * so a client could smuggle in the value that a plugin replaced.
   */
  constructor(foldUnderscores = false) {
    this.#foldUnderscores = foldUnderscores;
  }

  copy(): HeaderEdits {
    const copy = new HeaderEdits(this.#foldUnderscores);
    copy.#dropped.push(...this.#dropped);
    copy.#added.push(...this.#added);
    copy.#lengths = this.#lengths;
    return copy;
  }

  /** The changes since `before`, by lower-case name. */
  changesSince(before: HeaderEdits | null): ReadonlyMap<string, 'set' | 'added' | 'removed'> {
    const changes = new Map<string, 'set' | 'added' | 'removed'>();
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
    return this.#dropped.length === 0 && this.#added.length === 0;
  }

  /** Replaces all values of a header by one. */
  set(name: string, value: string): void {
    const line = addedHeader(name, value);
    this.#drop(line.lower);
    this.#added.push(line);
  }

  /** The same as `set` for a header without a line in the block, which is not searched. */
  setAbsent(name: string, value: string): void {
    const line = addedHeader(name, value);
    if (this.#added.length > 0) this.#removeAdded(this.#folded(line.lower));
    this.#added.push(line);
  }

  /** The same for several headers, whose names were looked at before. */
  setAll({ names, lower }: HeaderNames, values: readonly string[]): void {
    for (let at = 0; at < names.length; at++) {
      const name = names[at]!;
      this.#drop(lower[at]!);
      this.#added.push({ name, lower: lower[at]!, value: validValue(name, values[at] ?? '') });
    }
  }

  /** Adds a value to the existing ones. */
  add(name: string, value: string): void {
    this.#added.push(addedHeader(name, value));
  }

  remove(name: string): void {
    this.#drop(lowerName(name));
  }

  /** The block after the changes: lines left as they were, then lines added, each in order. */
  applyTo(block: string): string {
    return this.keptOf(block) + this.addedLines;
  }

  /** Lines are added, and the block stays as it is. */
  get onlyAdds(): boolean {
    return this.#dropped.length === 0;
  }

  /** The lines that follow the block after the changes. */
  get addedLines(): string {
    let text = '';
    for (const { name, value } of this.#added) text += `${name}: ${value}\r\n`;
    return text;
  }

  /** The lines of the block that stay. */
  keptOf(block: string): string {
    return this.#dropped.length === 0 ? block : this.#keptLines(block);
  }

  /** First value after the changes, or null. `lowerName` must be lower case. */
  value(block: string, lowerName: string): string | null {
    if (!this.#dropped.includes(this.#folded(lowerName))) {
      const kept = headerValue(block, lowerName);
      if (kept !== null) return kept;
    }
    return this.#added.find((line) => line.lower === lowerName)?.value ?? null;
  }

  /** All values after the changes, in order. `lowerName` must be lower case. */
  values(block: string, lowerName: string): readonly string[] {
    const kept = this.#dropped.includes(this.#folded(lowerName)) ? [] : headerValues(block, lowerName);
    const added = this.#added.filter((line) => line.lower === lowerName);
    return added.length === 0 ? kept : [...kept, ...added.map((line) => line.value)];
  }

  #drop(lower: string): void {
    const folded = this.#folded(lower);
    if (!this.#dropped.includes(folded)) this.#dropped.push(folded);
    this.#lengths |= 1 << (folded.length & 31);
    this.#removeAdded(folded);
  }

  #removeAdded(folded: string): void {
    const added = this.#added;
    for (let at = added.length - 1; at >= 0; at--) if (this.#folded(added[at]!.lower) === folded) added.splice(at, 1);
  }

  #folded(lower: string): string {
    return this.#foldUnderscores && lower.includes('_') ? lower.replaceAll('_', '-') : lower;
  }

  #keptLines(block: string): string {
    let kept = '';
    let keptFrom = 0;
    for (let start = 0; start < block.length; ) {
      const next = block.indexOf('\r\n', start) + 2;
      const colon = block.indexOf(':', start);
      const suspect = (this.#lengths & (1 << ((colon - start) & 31))) !== 0;
      if (suspect && this.#dropped.includes(this.#folded(block.slice(start, colon).toLowerCase()))) {
        kept += block.slice(keptFrom, start);
        keptFrom = next;
      }
      start = next;
    }
    return keptFrom === 0 ? block : kept + block.slice(keptFrom);
  }
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
  if (!unusual.test(value)) return value;
  if (control.test(value)) throw new Error(`header ${name}: the value has a control character`);
  return utf8AsLatin1(value);
}

/** Plugins set few names, with every request: each is validated once. */
const lowerNames = new BoundedCache<string, string>(1024);

/** Throws when it is not a header name. */
export function lowerName(name: string): string {
  let lower = lowerNames.get(name);
  if (lower === undefined) {
    if (!token.test(name)) throw new Error(`${JSON.stringify(name)} is not a header name`);
    lower = name.toLowerCase();
    lowerNames.set(name, lower);
  }
  return lower;
}

/** The same as `isFramingHeader`, with names cached. Throws when it is not a header name. */
export function isFraming(name: string): boolean {
  const lower = lowerName(name);
  return framingHeaders.has(lower.includes('_') ? lower.replaceAll('_', '-') : lower);
}

/** Throws when a plugin must not write this header. */
export function refuseFraming(name: string): void {
  if (isFraming(name)) throw new Error(`header ${name} is the gateway's own; a plugin cannot set it`);
}
