import { TemplateError, type Token, tokenAt } from './lexer.ts';

/** Node of an expression. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  | { readonly kind: 'root'; readonly name: string }
  | { readonly kind: 'member'; readonly of: Expression; readonly key: Expression }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expression[] }
  | { readonly kind: 'not'; readonly value: Expression }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    };

export type BinaryOperator = 'or' | 'and' | '..' | '==' | '~=' | '<' | '<=' | '>' | '>=';

/** Literal text, and expressions. */
export type TemplatePart = string | Expression;

const maxTemplateLength = 8192;
const maxNodes = 256;
const deepest = 32;

/**
 * Reads a text with expressions in `$(...)`. The expressions are a subset of Lua: names and members, strings, numbers, `or`, `and`,
 * `not`, comparisons, `..`, calls of built-in functions. They cannot loop, define or assign anything, so evaluation always
 * ends. Throws a `TemplateError`.
 */
export function parseTemplate(text: string): readonly TemplatePart[] {
  if (text.length > maxTemplateLength) throw new TemplateError(`it is longer than ${maxTemplateLength} characters`);
  const parts: TemplatePart[] = [];
  let from = 0;
  for (let at = text.indexOf('$('); at >= 0; at = text.indexOf('$(', from)) {
    if (at > from) parts.push(text.slice(from, at));
    const parser = new Parser(text, at + 2);
    parts.push(parser.whole());
    from = parser.at;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

const literals: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['nil', null],
]);
const words = new Set(['or', 'and', 'not', 'true', 'false', 'nil']);
const comparisons: ReadonlyMap<string, BinaryOperator> = new Map([
  ['==', '=='],
  ['~=', '~='],
  ['!=', '~='],
  ['<', '<'],
  ['<=', '<='],
  ['>', '>'],
  ['>=', '>='],
]);

class Parser {
  readonly #text: string;
  #token: Token;
  /** Start of the next token. */
  at: number;
  #nodes = 0;
  #depth = 0;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
    this.#token = tokenAt(text, at);
  }

  /** An expression and the parenthesis that ends it; `at` is then after the parenthesis. */
  whole(): Expression {
    const expression = this.#or();
    if (!this.#isSymbol(')')) throw this.#unexpected();
    this.at = this.#token.end;
    return expression;
  }

  #or(): Expression {
    if (++this.#depth > deepest) throw new TemplateError(`it is nested deeper than ${deepest} levels`);
    let left = this.#and();
    while (this.#takesWord('or')) left = this.#node({ kind: 'binary', operator: 'or', left, right: this.#and() });
    this.#depth--;
    return left;
  }

  #and(): Expression {
    let left = this.#comparison();
    while (this.#takesWord('and'))
      left = this.#node({ kind: 'binary', operator: 'and', left, right: this.#comparison() });
    return left;
  }

  #comparison(): Expression {
    const left = this.#concatenation();
    const operator = this.#token.kind === 'symbol' ? comparisons.get(this.#token.value) : undefined;
    if (operator === undefined) return left;
    this.#advance();
    return this.#node({ kind: 'binary', operator, left, right: this.#concatenation() });
  }

  #concatenation(): Expression {
    let left = this.#unary();
    while (this.#takesSymbol('..')) left = this.#node({ kind: 'binary', operator: '..', left, right: this.#unary() });
    return left;
  }

  #unary(): Expression {
    let negated = 0;
    while (this.#takesWord('not')) negated++;
    let value = this.#members();
    for (; negated > 0; negated--) value = this.#node({ kind: 'not', value });
    return value;
  }

  #members(): Expression {
    let value = this.#primary();
    for (;;) {
      if (this.#takesSymbol('.')) {
        value = this.#node({ kind: 'member', of: value, key: { kind: 'literal', value: this.#name() } });
      } else if (this.#takesSymbol('[')) {
        const key = this.#or();
        if (!this.#takesSymbol(']')) throw this.#unexpected();
        value = this.#node({ kind: 'member', of: value, key });
      } else if (this.#takesSymbol(':')) {
        const name = this.#name();
        if (!this.#takesSymbol('(')) throw this.#unexpected();
        value = this.#node({ kind: 'call', name, args: [value, ...this.#arguments()] });
      } else return value;
    }
  }

  #primary(): Expression {
    const token = this.#token;
    if (this.#takesSymbol('(')) {
      const inner = this.#or();
      if (!this.#takesSymbol(')')) throw this.#unexpected();
      return inner;
    }
    if (token.kind === 'text' || token.kind === 'number') {
      this.#advance();
      return this.#node({ kind: 'literal', value: token.value });
    }
    if (this.#takesSymbol('-')) return this.#negative();
    const literal = token.kind === 'name' ? literals.get(token.value) : undefined;
    if (literal !== undefined) {
      this.#advance();
      return this.#node({ kind: 'literal', value: literal });
    }
    return this.#rootOrCall();
  }

  #negative(): Expression {
    const { kind, value } = this.#token;
    if (kind !== 'number') throw this.#unexpected();
    this.#advance();
    return this.#node({ kind: 'literal', value: -value });
  }

  #rootOrCall(): Expression {
    let name = this.#name();
    if (name === 'string' && this.#takesSymbol('.')) {
      name = this.#name();
      if (!this.#isSymbol('(')) throw this.#unexpected();
    }
    if (this.#takesSymbol('(')) return this.#node({ kind: 'call', name, args: this.#arguments() });
    return this.#node({ kind: 'root', name });
  }

  #arguments(): readonly Expression[] {
    const args: Expression[] = [];
    if (this.#takesSymbol(')')) return args;
    do args.push(this.#or());
    while (this.#takesSymbol(','));
    if (!this.#takesSymbol(')')) throw this.#unexpected();
    return args;
  }

  #name(): string {
    const token = this.#token;
    if (token.kind !== 'name' || words.has(token.value)) throw this.#unexpected();
    this.#advance();
    return token.value;
  }

  #node(expression: Expression): Expression {
    if (++this.#nodes > maxNodes) throw new TemplateError(`an expression has more than ${maxNodes} parts`);
    return expression;
  }

  #isSymbol(symbol: string): boolean {
    return this.#token.kind === 'symbol' && this.#token.value === symbol;
  }

  #takesSymbol(symbol: string): boolean {
    const taken = this.#isSymbol(symbol);
    if (taken) this.#advance();
    return taken;
  }

  #takesWord(word: string): boolean {
    const taken = this.#token.kind === 'name' && this.#token.value === word;
    if (taken) this.#advance();
    return taken;
  }

  #advance(): void {
    this.at = this.#token.end;
    this.#token = tokenAt(this.#text, this.at);
  }

  #unexpected(): TemplateError {
    const { kind, value } = this.#token;
    if (kind === 'end') return new TemplateError("an expression '$(' is not closed");
    const hint = value === '-' ? "; a name with a hyphen is written as headers['x-name']" : '';
    return new TemplateError(`'${value}' is not expected at character ${this.#token.end}${hint}`);
  }
}
