import { decodeArgument, namedValues, resolved, type TransformValues, type ValueRule } from '../../plugin-sdk/index.ts';

/** Changes a query or an urlencoded form; what no rule names stays byte for byte. */
export type ArgumentChange = (text: string, rendered: readonly string[]) => string;

/** The rules for one of the places that the configuration names. */
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

/** Null when there is nothing to change. */
export function argumentChange(texts: RuleTexts, values: TransformValues): ArgumentChange | null {
  if (isEmpty(texts)) return null;
  const gone = new Set(texts.remove);
  const rename = namedValues(texts.rename);
  const replace = values.rules(texts.replace);
  const add = values.rules(texts.add);
  const append = values.rules(texts.append);
  return (text, rendered) => {
    const list = readArguments(text).filter(({ name }) => !gone.has(name));
    for (const { name, value } of rename) renameArgument(list, name, value);
    for (const rule of replace) replaceArgument(list, rule.name, resolved(rule.value, rendered));
    for (const rule of add) if (!list.some(({ name }) => name === rule.name)) addArgument(list, rule, rendered);
    for (const rule of append) addArgument(list, rule, rendered);
    return list.map(({ pair }) => pair).join('&');
  };
}

interface Argument {
  name: string;
  /** As it is sent. */
  pair: string;
}

function readArguments(text: string): Argument[] {
  if (text === '') return [];
  return text.split('&').map((pair) => {
    const equals = pair.indexOf('=');
    return { name: decodeArgument(equals < 0 ? pair : pair.slice(0, equals)), pair };
  });
}

function renameArgument(list: Argument[], old: string, name: string): void {
  if (old === name || !list.some((one) => one.name === old)) return;
  for (let at = list.length - 1; at >= 0; at--) {
    const one = list[at] as Argument;
    if (one.name === name) list.splice(at, 1);
    if (one.name !== old) continue;
    const equals = one.pair.indexOf('=');
    one.name = name;
    one.pair = encode(name) + (equals < 0 ? '' : one.pair.slice(equals));
  }
}

/** Of several of the name one is left. */
function replaceArgument(list: Argument[], name: string, value: string): void {
  const first = list.findIndex((one) => one.name === name);
  if (first < 0) return;
  (list[first] as Argument).pair = `${encode(name)}=${encode(value)}`;
  for (let at = list.length - 1; at > first; at--) if (list[at]?.name === name) list.splice(at, 1);
}

function addArgument(list: Argument[], { name, value }: ValueRule, rendered: readonly string[]): void {
  list.push({ name, pair: `${encode(name)}=${encode(resolved(value, rendered))}` });
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
