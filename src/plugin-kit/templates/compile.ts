import { utf8AsLatin1 } from '../../shared/util/bytes/latin1.ts';
import { functions } from './functions.ts';
import { TemplateError } from './lexer.ts';
import type { BinaryOperator, Expression, TemplatePart } from './parser.ts';
import { nameFrom, type Root, type TemplateContext } from './roots.ts';
import { bounded, isTrue, memberOf, TemplateFailure, textOf, utf8FromLatin1, type Value } from './values.ts';

type Run = (context: TemplateContext) => Value;
type Roots = ReadonlyMap<string, Root>;

/** The use of the text. In a path, all reserved characters of values are encoded, except in values that are parts of a path. */
export type TemplateTarget = 'text' | 'path';

/** Compiles the parsed expression to closures. Throws a `TemplateError` for an unknown name. */
export function compileParts(
  parts: readonly TemplatePart[],
  roots: Roots,
  target: TemplateTarget,
): (context: TemplateContext) => string {
  const compiler = new Compiler(roots, target);
  const steps = parts.map((part) => compiler.part(part));
  const [first, second, third] = steps;
  if (first === undefined) return () => '';
  if (second === undefined) return first;
  if (third === undefined) return (context) => bounded(first(context) + second(context));
  return (context) => {
    let text = '';
    for (const step of steps) text += step(context);
    return bounded(text);
  };
}

class Compiler {
  readonly #roots: Roots;
  readonly #forPath: boolean;

  constructor(roots: Roots, target: TemplateTarget) {
    this.#roots = roots;
    this.#forPath = target === 'path';
  }

  part(part: TemplatePart): (context: TemplateContext) => string {
    if (typeof part === 'string') {
      const text = this.#forPath ? utf8AsLatin1(part) : part;
      return () => text;
    }
    const run = this.#forPath ? this.#pathPiece(part) : this.#run(part);
    return (context) => textOf(run(context));
  }

  /** The escaping is done where a value comes from, so that texts of the configuration and captures next to it stay unchanged. */
  #pathPiece(expression: Expression): Run {
    switch (expression.kind) {
      case 'literal': {
        const { value } = expression;
        const text = typeof value === 'string' ? utf8AsLatin1(value) : value;
        return () => text;
      }
      case 'binary':
        if (expression.operator === 'or' || expression.operator === 'and' || expression.operator === '..') {
          const { operator, left, right } = expression;
          return binary(operator, this.#pathPiece(left), this.#pathPiece(right));
        }
        break;
      case 'call': {
        const { name, args } = expression;
        if (name === 'default') {
          const list = args.map((arg) => this.#pathPiece(arg));
          return this.#call(name, list);
        }
        if (name === 'path') {
          const value = this.#call(
            name,
            args.map((arg) => this.#run(arg)),
          );
          return (context) => escaped(value(context), (text) => text.split('/').map(segment).join('/'));
        }
        break;
      }
      case 'member':
        if (this.#rootOf(expression)?.isPath === true) return this.#run(expression, true);
    }
    const value = this.#run(expression);
    return (context) => escaped(value(context), segment);
  }

  #run(expression: Expression, asBytes = false): Run {
    switch (expression.kind) {
      case 'literal': {
        const { value } = expression;
        return () => value;
      }
      case 'root': {
        const { itself } = this.#root(expression.name);
        if (itself === null) throw new TemplateError(`'${expression.name}' has several values: name one of them`);
        return itself;
      }
      case 'member':
        return this.#member(expression, asBytes);
      case 'not': {
        const value = this.#run(expression.value);
        return (context) => !isTrue(value(context));
      }
      case 'binary':
        return binary(expression.operator, this.#run(expression.left), this.#run(expression.right));
      case 'call':
        return this.#call(
          expression.name,
          expression.args.map((arg) => this.#run(arg)),
        );
    }
  }

  #member(expression: Extract<Expression, { kind: 'member' }>, asBytes: boolean): Run {
    const root = this.#rootOf(expression);
    const { key } = expression;
    if (root === null) {
      const of = this.#run(expression.of);
      const name = this.#run(key);
      return (context) => memberOf(of(context), name(context));
    }
    const read: typeof root.member =
      root.isPath === true && !asBytes ? (context, name) => decoded(root.member(context, name)) : root.member;
    if (key.kind !== 'literal') {
      const name = this.#run(key);
      return (context) => read(context, nameFrom(name(context), root));
    }
    const name = nameFrom(key.value, root);
    if (root.names !== null && !root.names.includes(name)) {
      throw new TemplateError(`there is no '${name}' here, but ${root.names.join(', ')}`);
    }
    return (context) => read(context, name);
  }

  /** Null for a member of a member. */
  #rootOf({ of }: Extract<Expression, { kind: 'member' }>): Root | null {
    return of.kind === 'root' ? this.#root(of.name) : null;
  }

  #root(name: string): Root {
    const root = this.#roots.get(name);
    if (root === undefined) {
      throw new TemplateError(`there is no '${name}', but ${[...this.#roots.keys()].join(', ')}`);
    }
    return root;
  }

  #call(name: string, args: readonly Run[]): Run {
    const called = functions.get(name);
    if (called === undefined) {
      throw new TemplateError(`there is no function '${name}', but ${[...functions.keys()].join(', ')}`);
    }
    const [least, most] = called.args;
    if (args.length < least || args.length > most) throw new TemplateError(`${name}() has other arguments`);
    return (context) => called.run(args.map((arg) => arg(context)));
  }
}

function binary(operator: BinaryOperator, left: Run, right: Run): Run {
  switch (operator) {
    case 'or':
      return (context) => {
        const value = left(context);
        return isTrue(value) ? value : right(context);
      };
    case 'and':
      return (context) => {
        const value = left(context);
        return isTrue(value) ? right(context) : value;
      };
    case '..':
      return (context) => bounded(textOf(left(context)) + textOf(right(context)));
    case '==':
      return (context) => left(context) === right(context);
    case '~=':
      return (context) => left(context) !== right(context);
    default:
      return (context) => isOrdered(operator, left(context), right(context));
  }
}

function isOrdered(operator: '<' | '<=' | '>' | '>=', left: Value, right: Value): boolean {
  const comparable = typeof left === typeof right && (typeof left === 'number' || typeof left === 'string');
  if (!comparable) throw new TemplateFailure(`only two numbers or two texts can be compared with ${operator}`);
  const [a, b] = [left as string, right as string];
  if (operator === '<') return a < b;
  if (operator === '<=') return a <= b;
  return operator === '>' ? a > b : a >= b;
}

function escaped(value: Value, encode: (text: string) => string): Value {
  return isTrue(value) ? encode(textOf(value)) : value;
}

function segment(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function decoded(value: Value): Value {
  return typeof value === 'string' ? utf8FromLatin1(value) : value;
}
