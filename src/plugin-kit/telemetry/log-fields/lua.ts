import { TemplateError, type Token, tokenAt } from '../../templates/lexer.ts';
import { isTrue, memberOf, textOf, type Value } from '../../templates/values.ts';
import { getters } from './getters.ts';
import type { LogView } from './log-view.ts';

/** An expression of Kong's `custom_fields_by_lua`, compiled. Null: the field is removed. */
export type LuaExpression = (view: LogView) => Value;

const deepest = 50;
const keywords = new Set([
  'and',
  'or',
  'not',
  'nil',
  'true',
  'false',
  'return',
  'local',
  'function',
  'if',
  'then',
  'end',
]);

/**
 * Reads `return <expression>` with the supported subset of Lua expressions: no Lua runs. Throws a `TemplateError` for anything else.
 */
export function compileLua(text: string): LuaExpression {
  return new Reader(text).chunk();
}

/** The problem of an expression, and what to write instead; null: none. */
export function luaProblem(text: string): string | null {
  try {
    compileLua(text);
    return null;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return `no Lua runs here, and of what is read without it this is not: ${error.message}; write a template into custom_fields instead, such as $(headers.x_tenant)`;
  }
}

class Reader {
  readonly #text: string;
  #token: Token;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
    this.#token = tokenAt(text, 0);
  }

  chunk(): LuaExpression {
    if (!this.#takeWord('return')) throw new TemplateError("it does not begin with 'return'");
    const value = this.#isEnd() ? () => null : this.#either();
    if (!this.#isEnd()) throw this.#unexpected();
    return value;
  }

  #either(): LuaExpression {
    if (++this.#depth > deepest) throw new TemplateError('it is nested too deep');
    let left = this.#both();
    while (this.#takeWord('or')) {
      const [first, second] = [left, this.#both()];
      left = (view) => {
        const value = first(view);
        return isTrue(value) ? value : second(view);
      };
    }
    this.#depth--;
    return left;
  }

  #both(): LuaExpression {
    let left = this.#joined();
    while (this.#takeWord('and')) {
      const [first, second] = [left, this.#joined()];
      left = (view) => {
        const value = first(view);
        return isTrue(value) ? second(view) : value;
      };
    }
    return left;
  }

  /** In Lua, concatenation with nil is an error; here the result is nil. */
  #joined(): LuaExpression {
    const parts = [this.#operand()];
    while (this.#takeSymbol('..')) parts.push(this.#operand());
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) return only;
    return (view) => {
      let text = '';
      for (const part of parts) {
        const value = part(view);
        if (value === null) return null;
        text += textOf(value);
      }
      return text;
    };
  }

  #operand(): LuaExpression {
    const token = this.#token;
    if (this.#takeSymbol('(')) {
      const value = this.#either();
      this.#expect(')');
      return value;
    }
    if (token.kind === 'text' || token.kind === 'number') {
      this.#next();
      const { value } = token;
      return () => value;
    }
    if (token.kind !== 'name') throw this.#unexpected();
    if (this.#takeWord('nil')) return () => null;
    if (this.#takeWord('true')) return () => true;
    if (this.#takeWord('false')) return () => false;
    return this.#members(this.#getter());
  }

  /** A dotted name, called if it is a function. */
  #getter(): LuaExpression {
    let name = '';
    do {
      const { kind, value } = this.#token;
      if (kind !== 'name' || keywords.has(value)) throw this.#unexpected();
      this.#next();
      name += name === '' ? value : `.${value}`;
      const getter = getters.get(name);
      if (getter === undefined) continue;
      const { read, takes } = getter;
      if (takes === 'nothing') return read;
      this.#expect('(');
      const argument = takes === 'name' ? this.#either() : null;
      this.#expect(')');
      return argument === null ? read : (view) => read(view, textOf(argument(view)));
    } while (this.#takeSymbol('.'));
    throw new TemplateError(`'${name}' is not known`);
  }

  #members(of: LuaExpression): LuaExpression {
    let value = of;
    for (;;) {
      if (this.#takeSymbol('.')) value = member(value, this.#name());
      else if (this.#takeSymbol('[')) {
        const key = this.#either();
        this.#expect(']');
        const object = value;
        value = (view) => memberOf(object(view), key(view));
      } else return value;
    }
  }

  #name(): string {
    const { kind, value } = this.#token;
    if (kind !== 'name') throw this.#unexpected();
    this.#next();
    return value;
  }

  #next(): void {
    this.#token = tokenAt(this.#text, this.#token.end);
  }

  #isEnd(): boolean {
    return this.#token.kind === 'end';
  }

  #takeWord(word: string): boolean {
    if (this.#token.kind !== 'name' || this.#token.value !== word) return false;
    this.#next();
    return true;
  }

  #takeSymbol(symbol: string): boolean {
    if (this.#token.kind !== 'symbol' || this.#token.value !== symbol) return false;
    this.#next();
    return true;
  }

  #expect(symbol: string): void {
    if (!this.#takeSymbol(symbol)) throw this.#unexpected();
  }

  #unexpected(): TemplateError {
    if (this.#isEnd()) return new TemplateError('it ends too early');
    const { end, value, kind } = this.#token;
    return new TemplateError(
      kind === 'text' ? `the text before character ${end + 1}` : `'${value}' before character ${end + 1}`,
    );
  }
}

function member(of: LuaExpression, name: string): LuaExpression {
  return (view) => memberOf(of(view), name);
}
