import { decodeArgument } from '../../plugin-kit/http/index.ts';
import { namedValues, resolved, type TransformValues, type ValueRule } from '../../plugin-kit/templates/index.ts';

/** Changes a query or an urlencoded form; all other arguments stay byte for byte. */
export type ArgumentChange = (text: string, rendered: readonly string[]) => string;

/** The rules for the query or the body. */
export interface RuleTexts {
  readonly remove: readonly string[];
  readonly rename: readonly string[];
  readonly replace: readonly string[];
  readonly add: readonly string[];
  readonly append: readonly string[];
}

export function isEmpty({ remove, rename, replace, add, append }: RuleTexts): boolean {
  return remove.length + rename.length + replace.length + add.length + append.length === 0;
}

/** Null when there is nothing to change. `read`: `namedFields` for a form, whose rules are also those of JSON. */
export function argumentChange(
  texts: RuleTexts,
  values: TransformValues,
  read: typeof namedValues = namedValues,
): ArgumentChange | null {
  if (isEmpty(texts)) return null;
  const gone = new Set(texts.remove);
  const rename = read(texts.rename);
  const replace = values.rules(texts.replace, read);
  const add = values.rules(texts.add, read);
  const append = values.rules(texts.append, read);
  return (text, rendered) => {
    let list = readArguments(text).filter(({ name }) => !gone.has(name));
    for (const { name, value } of rename) list = renamed(list, name, value);
    for (const rule of replace) list = replaced(list, rule.name, resolved(rule.value, rendered));
    for (const rule of add) if (!list.some(({ name }) => name === rule.name)) list.push(argument(rule, rendered));
    for (const rule of append) list.push(argument(rule, rendered));
    return list.map(({ pair }) => pair).join('&');
  };
}

interface Argument {
  readonly name: string;
  /** Encoded. */
  readonly pair: string;
}

/** No rule has longer names; to decode one of a megabyte would block other requests. */
const maxNameLength = 4096;

function readArguments(text: string): Argument[] {
  if (text === '') return [];
  return text.split('&').map((pair) => {
    const equals = pair.indexOf('=');
    const name = equals < 0 ? pair : pair.slice(0, equals);
    return { name: name.length > maxNameLength ? name : decodeArgument(name), pair };
  });
}

function renamed(list: Argument[], old: string, name: string): Argument[] {
  if (old === name || !list.some((one) => one.name === old)) return list;
  return list
    .filter((one) => one.name !== name)
    .map((one) => {
      if (one.name !== old) return one;
      const equals = one.pair.indexOf('=');
      return { name, pair: encode(name) + (equals < 0 ? '' : one.pair.slice(equals)) };
    });
}

/** Keeps one of several arguments with this name. */
function replaced(list: Argument[], name: string, value: string): Argument[] {
  const first = list.findIndex((one) => one.name === name);
  if (first < 0) return list;
  list[first] = { name, pair: `${encode(name)}=${encode(value)}` };
  return list.filter((one, at) => at <= first || one.name !== name);
}

function argument({ name, value }: ValueRule, rendered: readonly string[]): Argument {
  return { name, pair: `${encode(name)}=${encode(resolved(value, rendered))}` };
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
