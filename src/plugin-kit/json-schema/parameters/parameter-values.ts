import { cookieValues } from '../../http/cookies.ts';
import { type JsonObject, type JsonValue, setMember } from '../../json/json.ts';
import { anyShape, type Shape, scalarOf } from '../shape.ts';
import { readStrictJson } from '../strict-json.ts';
import type { ParameterStyle } from './parameter-styles.ts';
import type { Parameter, ParameterSource } from './parameter-types.ts';
import { type Decode, decodeArgument, decodePercent, latin1, type RawArgument, rawArguments } from './raw-arguments.ts';

/** A value that cannot be read. */
export class Fault {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

const repeated = new Fault('is given more than once');
const notEncoded = new Fault('is not percent-encoded UTF-8');

/** Undefined: absent. */
export function parameterValue(parameter: Parameter, source: ParameterSource): JsonValue | undefined | Fault {
  if (parameter.in === 'query') return queryValue(parameter, source.query, decodeArgument);
  if (parameter.in === 'cookie') {
    const values = cookieValues(source.request, parameter.name);
    const pairs = values.map((value) => ({ name: parameter.name, value }));
    return queryValue(parameter, pairs, decodePercent);
  }
  if (parameter.in === 'path') return pathValue(parameter, source.path.get(parameter.name));
  return headerValue(parameter, source.request.headerValues(parameter.name));
}

/** A value of the style `form` or a related one, in a query, a form or a cookie. */
export function queryValue(
  parameter: Parameter,
  all: readonly RawArgument[],
  decode: Decode,
): JsonValue | undefined | Fault {
  const { name, shape, style, explode, json } = parameter;
  const isObject = shape.types.has('object') && !json;
  if (isObject && style === 'deepObject') return deepObject(parameter, all, decode);
  if (isObject && style === 'form' && explode) return spreadObject(shape, all, decode);
  const own = all.filter((argument) => argument.name === name);
  if (own.length === 0) return undefined;
  if (shape.types.has('array') && !json && explode)
    return listOf(
      own.map(({ value }) => value),
      shape,
      decode,
    );
  if (own.length > 1) return repeated;
  const { value } = own[0] as RawArgument;
  if (json) return jsonValue(decode(value));
  return fromText(value, parameter, separators[style] ?? /,/, decode);
}

const separators: Partial<Readonly<Record<ParameterStyle, RegExp>>> = {
  spaceDelimited: /%20|\+/,
  pipeDelimited: /%7[Cc]|\|/,
};

/** A value that is one text: a scalar, or a list or an object whose parts are separated. */
function fromText(text: string, { shape, explode }: Parameter, separator: RegExp, decode: Decode): JsonValue | Fault {
  if (shape.types.has('array')) return listOf(text === '' ? [] : text.split(separator), shape, decode);
  if (!shape.types.has('object')) return scalar(text, shape, decode);
  const words = text === '' ? [] : text.split(separator);
  const pairs: [string, string][] = [];
  if (explode) {
    for (const word of words) {
      const equals = word.indexOf('=');
      pairs.push(equals < 0 ? [word, ''] : [word.slice(0, equals), word.slice(equals + 1)]);
    }
  } else {
    if (words.length % 2 !== 0) return new Fault('is not a list of names and values');
    for (let at = 0; at < words.length; at += 2) pairs.push([words[at] as string, words[at + 1] as string]);
  }
  return objectOf(pairs, shape, decode);
}

function pathValue(parameter: Parameter, text: string | undefined): JsonValue | undefined | Fault {
  if (text === undefined) return undefined;
  const { style, explode, name, json } = parameter;
  if (json) return jsonValue(decodePercent(text));
  if (style === 'simple') return fromText(text, parameter, /,/, decodePercent);
  if (style === 'label') {
    if (!text.startsWith('.')) return new Fault('does not begin with a point');
    return fromText(text.slice(1), parameter, explode ? /\./ : /,/, decodePercent);
  }
  if (!text.startsWith(';')) return new Fault('does not begin with a semicolon');
  const words = text.slice(1).split(';');
  if (explode && parameter.shape.types.has('object')) return fromText(text.slice(1), parameter, /;/, decodePercent);
  const own = words.filter((word) => word === name || word.startsWith(`${name}=`));
  if (own.length !== words.length) return new Fault('has another name');
  const values = own.map((word) => word.slice(name.length + 1));
  if (explode && parameter.shape.types.has('array')) return listOf(values, parameter.shape, decodePercent);
  return values.length === 1 ? fromText(values[0] as string, parameter, /,/, decodePercent) : repeated;
}

function headerValue(parameter: Parameter, lines: readonly string[]): JsonValue | undefined | Fault {
  if (lines.length === 0) return undefined;
  const { types } = parameter.shape;
  if (parameter.json) return lines.length > 1 ? repeated : jsonValue(latin1(lines[0] as string));
  const isList = types.has('array') || types.has('object');
  if (lines.length > 1 && !isList) return repeated;
  return fromText(lines.join(','), parameter, /[ \t]*,[ \t]*/, latin1);
}

function listOf(texts: readonly string[], shape: Shape, decode: Decode): JsonValue | Fault {
  const items: JsonValue[] = [];
  for (const text of texts) {
    const item = scalar(text, shape.items ?? anyShape, decode);
    if (item instanceof Fault) return item;
    items.push(item);
  }
  return items;
}

function deepObject(
  { name, shape }: Parameter,
  all: readonly RawArgument[],
  decode: Decode,
): JsonValue | undefined | Fault {
  const pairs: [string, string][] = [];
  for (const argument of all) {
    if (argument.name === null || !argument.name.startsWith(`${name}[`)) continue;
    const member = /^\[([^[\]]+)\]$/.exec(argument.name.slice(name.length));
    if (member === null) return new Fault('is not of the form name[member]=value');
    pairs.push([member[1] as string, argument.value]);
  }
  return pairs.length === 0 ? undefined : objectOf(pairs, shape, decode, false);
}

/** The members are separate arguments. */
function spreadObject(shape: Shape, all: readonly RawArgument[], decode: Decode): JsonValue | undefined | Fault {
  const pairs = all.flatMap(({ name, value }): [string, string][] =>
    name !== null && shape.members.has(name) ? [[name, value]] : [],
  );
  return pairs.length === 0 ? undefined : objectOf(pairs, shape, decode, false);
}

export function objectOf(
  pairs: readonly (readonly [string, string])[],
  shape: Shape,
  decode: Decode,
  encodedNames = true,
): JsonValue | Fault {
  const object: JsonObject = {};
  for (const [rawName, text] of pairs) {
    const name = encodedNames ? decode(rawName) : rawName;
    if (name === null) return notEncoded;
    const kind = shape.members.get(name) ?? shape.others ?? anyShape;
    const value = scalar(text, kind.types.has('array') ? (kind.items ?? anyShape) : kind, decode);
    if (value instanceof Fault) return value;
    const before = Object.hasOwn(object, name) ? object[name] : undefined;
    if (!kind.types.has('array')) {
      if (before !== undefined) return repeated;
      setMember(object, name, value);
    } else if (Array.isArray(before)) before.push(value);
    else setMember(object, name, [value]);
  }
  return object;
}

function scalar(text: string, shape: Shape, decode: Decode): JsonValue | Fault {
  const decoded = decode(text);
  return decoded === null ? notEncoded : scalarOf(decoded, shape);
}

function jsonValue(text: string | null): JsonValue | Fault {
  if (text === null) return notEncoded;
  try {
    return readStrictJson(Buffer.from(text)) as JsonValue;
  } catch {
    return new Fault('is not JSON');
  }
}

/** A form body as an object; null when it is not a form. */
export function formValue(body: Uint8Array, shape: Shape): JsonValue | null {
  const pairs: [string, string][] = [];
  for (const { name, value } of rawArguments(Buffer.from(body).toString('latin1'))) {
    if (name === null) return null;
    pairs.push([name, value]);
  }
  const value = objectOf(pairs, shape, decodeArgument, false);
  return value instanceof Fault ? null : value;
}
