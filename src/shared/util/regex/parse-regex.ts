import { ANY, type CharSet, foldAsciiCase, NOT_NEWLINE, singleChar } from './char-set.ts';
import { parseClass } from './parse-class.ts';
import { parseEscape } from './parse-escape.ts';
import { EMPTY, type RegexNode } from './regex-node.ts';
import { RegexReader } from './regex-reader.ts';

export interface RegexOptions {
  readonly ignoreCase: boolean;
  /** `.` matches a newline too. */
  readonly dotAll: boolean;
  /** The text is UTF-8 with one code unit for each byte, so a non-ASCII character of the expression is several. */
  readonly bytes: boolean;
}

const MAX_DEPTH = 50;
const MAX_COUNT = 1000;
const MAX_SOURCE = 8192;

const GROUP_NAME = /P?<([A-Za-z_][A-Za-z0-9_]*)>/y;
const GROUP_FLAGS = /([a-z]*)(?:-([a-z]+))?([:)])/y;
const COUNT = /\{(\d+)(?:(,)(\d*))?\}/y;

/** Parses an expression in the syntax of Rust's `regex` and RE2. Throws an `Error` that says what is wrong and where. */
export function parseRegex(source: string, options: RegexOptions): RegexNode {
  if (source.length > MAX_SOURCE) throw new Error(`regular expression longer than ${MAX_SOURCE} characters`);
  const parser = new RegexParser(source, options);
  return parser.parse();
}

class RegexParser {
  private readonly reader: RegexReader;
  private readonly bytes: boolean;
  private readonly names = new Set<string>();
  private ignoreCase: boolean;
  private dotAll: boolean;
  private depth = 0;

  constructor(source: string, options: RegexOptions) {
    this.reader = new RegexReader(source);
    this.bytes = options.bytes;
    this.ignoreCase = options.ignoreCase;
    this.dotAll = options.dotAll;
  }

  parse(): RegexNode {
    const node = this.parseChoice();
    if (!this.reader.done) throw this.reader.error("unmatched ')'");
    return node;
  }

  /** Alternatives up to `)` or the end. Inline flags set inside end with it. */
  private parseChoice(): RegexNode {
    if (++this.depth > MAX_DEPTH) throw this.reader.error(`groups nested deeper than ${MAX_DEPTH}`);
    const { ignoreCase, dotAll } = this;
    const options: RegexNode[] = [this.parseSequence()];
    while (this.reader.take('|')) options.push(this.parseSequence());
    this.ignoreCase = ignoreCase;
    this.dotAll = dotAll;
    this.depth--;
    return options.length === 1 ? options[0]! : { kind: 'choice', options };
  }

  private parseSequence(): RegexNode {
    const items: RegexNode[] = [];
    while (!this.reader.done && this.reader.peek() !== '|' && this.reader.peek() !== ')') {
      const atom = this.parseAtom();
      if (atom !== null) items.push(this.parseQuantifier(atom));
    }
    return items.length === 1 ? items[0]! : { kind: 'sequence', items };
  }

  /** Null for a flag setting, which matches nothing itself. */
  private parseAtom(): RegexNode | null {
    const { reader } = this;
    if (reader.take('(')) return this.parseGroup();
    if (reader.take('[')) {
      const { set, long } = parseClass(reader, this.highest);
      const single = this.char(set);
      if (long.length === 0) return single;
      return { kind: 'choice', options: [single, ...long.map((code) => this.literal(code))] };
    }
    if (reader.take('.')) return { kind: 'char', set: this.dotAll ? ANY : NOT_NEWLINE };
    if (reader.take('^') || reader.take('\\A')) return { kind: 'assert', what: 'start' };
    if (reader.take('$') || reader.take('\\z')) return { kind: 'assert', what: 'end' };
    if (reader.take('\\b')) return { kind: 'assert', what: 'word' };
    if (reader.take('\\B')) return { kind: 'assert', what: 'notWord' };
    if (/[*+?]/.test(reader.peek())) throw reader.error('nothing to repeat');
    if (!reader.take('\\')) return this.literal(reader.next());
    const escaped = parseEscape(reader);
    return 'set' in escaped ? this.char(escaped.set) : this.literal(escaped.code);
  }

  private parseGroup(): RegexNode | null {
    const { reader } = this;
    if (!reader.take('?')) return this.closeGroup(null);
    const named = reader.takeMatch(GROUP_NAME);
    if (named !== null) return this.closeGroup(this.newName(named[1]!));
    if (/[=!]|<[=!]/y.test(reader.source.slice(reader.position))) throw reader.error('look-around is not supported');
    const flags = reader.takeMatch(GROUP_FLAGS);
    if (flags === null) throw reader.error('unsupported kind of group');
    const { ignoreCase, dotAll } = this;
    this.setFlags(flags[1]!, true);
    this.setFlags(flags[2] ?? '', false);
    if (flags[3] === ')') return null;
    const item = this.parseChoice();
    this.ignoreCase = ignoreCase;
    this.dotAll = dotAll;
    if (!reader.take(')')) throw reader.error("missing ')'");
    return item;
  }

  private closeGroup(name: string | null): RegexNode {
    const item = this.parseChoice();
    if (!this.reader.take(')')) throw this.reader.error("missing ')'");
    return { kind: 'group', name, item };
  }

  private newName(name: string): string {
    if (this.names.has(name)) throw this.reader.error(`two groups named '${name}'`);
    this.names.add(name);
    return name;
  }

  private setFlags(letters: string, value: boolean): void {
    for (const letter of letters) {
      if (letter === 'i') this.ignoreCase = value;
      else if (letter === 's') this.dotAll = value;
      else if (letter !== 'u') throw this.reader.error(`unsupported flag '${letter}'`);
    }
  }

  private parseQuantifier(item: RegexNode): RegexNode {
    const { reader } = this;
    const bounds = this.takeBounds();
    if (bounds === null) return item;
    if (item.kind === 'assert') throw reader.error('nothing to repeat');
    const lazy = reader.take('?');
    // PCRE interprets a second `+` as possessive, Rust as one more repetition: both are rejected.
    if (/[*+?]/.test(reader.peek())) throw reader.error('a quantifier after a quantifier is not supported');
    const [min, max] = bounds;
    if (min > max) throw reader.error('repetition range out of order');
    if (min > MAX_COUNT || (Number.isFinite(max) && max > MAX_COUNT)) {
      throw reader.error(`repetition count above ${MAX_COUNT}`);
    }
    return max === 0 ? EMPTY : { kind: 'repeat', item, min, max, lazy };
  }

  private takeBounds(): [number, number] | null {
    const { reader } = this;
    if (reader.take('*')) return [0, Number.POSITIVE_INFINITY];
    if (reader.take('+')) return [1, Number.POSITIVE_INFINITY];
    if (reader.take('?')) return [0, 1];
    const count = reader.takeMatch(COUNT);
    if (count === null) return null;
    const min = Number(count[1]);
    if (count[2] === undefined) return [min, min];
    return [min, count[3] === '' ? Number.POSITIVE_INFINITY : Number(count[3])];
  }

  private get highest(): number {
    return this.bytes ? 0x7f : 0xffff;
  }

  private char(set: CharSet): RegexNode {
    return { kind: 'char', set: this.ignoreCase ? foldAsciiCase(set) : set };
  }

  private literal(code: number): RegexNode {
    if (code <= this.highest) return this.char(singleChar(code));
    const text = String.fromCodePoint(code);
    const units = this.bytes ? Buffer.from(text, 'utf8').toString('latin1') : text;
    const items = Array.from({ length: units.length }, (_, i) => this.char(singleChar(units.charCodeAt(i))));
    return { kind: 'sequence', items };
  }
}
