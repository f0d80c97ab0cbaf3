import type { JsonPath, JsonValue } from '../../../plugin-kit/json/index.ts';
import { compileJsonPath, compileJsonPathBelow, isJsonObject, JsonPathError } from '../../../plugin-kit/json/index.ts';
import type { AccessContext } from '../../../plugin-sdk/index.ts';

/** A value of the request, or of the response of another part, that a template names: `{user.body.id}`. */
export type Reference =
  | { readonly from: 'capture' | 'query' | 'header' | 'consumer'; readonly text: string; readonly name: string }
  | { readonly from: 'claims' | 'body' | 'item'; readonly text: string; readonly path: ValuePath | null }
  | { readonly from: 'index'; readonly text: string }
  | { readonly from: 'part'; readonly text: string; readonly part: string; readonly of: PartValue };

export type PartValue =
  /** `text` is what follows `body` in the template; '' for all of it. */
  | { readonly kind: 'body'; readonly text: string; readonly path: ValuePath | null }
  | { readonly kind: 'status' }
  | { readonly kind: 'header'; readonly name: string };

/** Finds one value; a list of all, if the path may lead to several. */
export type ValuePath = (root: JsonValue) => JsonValue | undefined;

/** Where references find their values. */
export interface Sources {
  readonly context: AccessContext;
  /** The client's body; undefined if there is none, or no reference needs it. */
  readonly body: JsonValue | undefined;
  part(name: string, of: PartValue): JsonValue | undefined;
}

/** The element of an `each`. */
export interface Item {
  readonly value: JsonValue;
  readonly index: number;
}

/** A template, reference or condition is invalid; the message says why. */
export class TemplateError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TemplateError';
  }
}

/** Names that parts cannot have. */
export const reservedNames: readonly string[] = [
  'captures',
  'query',
  'headers',
  'consumer',
  'claims',
  'body',
  'item',
  'index',
];

const consumerFields: readonly string[] = ['id', 'username', 'custom_id'];
const shape = /^([A-Za-z_][A-Za-z0-9_-]*|[0-9]{1,2})((?:\.|\[).+)?$/;

/** Parses the text between the braces. Throws a `TemplateError`. */
export function parseReference(text: string): Reference {
  const [, root, tail = ''] = shape.exec(text) ?? [];
  if (root === undefined) throw new TemplateError(`{${text}} is not a reference`);
  const rest = tail.startsWith('.') ? tail.slice(1) : tail;
  switch (root) {
    case 'captures':
      return { from: 'capture', text, name: nameIn(text, rest) };
    case 'query':
      return { from: 'query', text, name: nameIn(text, rest) };
    case 'headers':
      return { from: 'header', text, name: nameIn(text, rest).toLowerCase() };
    case 'consumer':
      if (!consumerFields.includes(rest)) {
        throw new TemplateError(
          `{${text}} must be one of ${consumerFields.map((name) => `consumer.${name}`).join(', ')}`,
        );
      }
      return { from: 'consumer', text, name: rest };
    case 'claims':
      return { from: 'claims', text, path: parsePathBelow(nameIn(text, rest)) };
    case 'body':
    case 'item':
      return { from: root, text, path: rest === '' ? null : parsePathBelow(rest) };
    case 'index':
      if (rest !== '') throw new TemplateError(`{${text}} is a number without members`);
      return { from: 'index', text };
    default:
      return rest === '' ? { from: 'capture', text, name: root } : partReference(text, root, rest);
  }
}

function partReference(text: string, part: string, rest: string): Reference {
  if (rest === 'status') return { from: 'part', text, part, of: { kind: 'status' } };
  if (rest === 'body') return { from: 'part', text, part, of: { kind: 'body', text: '', path: null } };
  const header = /^headers\.(.+)$/.exec(rest)?.[1];
  if (header !== undefined) return { from: 'part', text, part, of: { kind: 'header', name: header.toLowerCase() } };
  const inBody = /^body(?:\.|(?=\[))(.+)$/.exec(rest)?.[1];
  if (inBody === undefined) {
    throw new TemplateError(
      `{${text}} must continue with .body, .headers.<name> or .status after the name of the part`,
    );
  }
  return { from: 'part', text, part, of: { kind: 'body', text: inBody, path: parsePathBelow(inBody) } };
}

function nameIn(text: string, rest: string): string {
  if (rest === '' || rest.startsWith('[')) throw new TemplateError(`{${text}} lacks a name`);
  return rest;
}

const plainNames = /^[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_][A-Za-z0-9_-]*)*$/;

/** Reads a path of RFC 9535, `$.data.items[0].id`, or one in the old spelling. Throws a `TemplateError`. */
export function parsePath(text: string): ValuePath {
  if (text === '$') return (root) => root;
  return valuePath(text, compileJsonPath);
}

/** Reads what follows the root of a reference: `data.items[0].id`. Throws a `TemplateError`. */
export function parsePathBelow(rest: string): ValuePath {
  return valuePath(rest, compileJsonPathBelow);
}

function valuePath(text: string, compile: (text: string) => JsonPath): ValuePath {
  if (plainNames.test(text)) return memberPath(text.split('.'));
  let path: JsonPath;
  try {
    path = compile(text);
  } catch (error) {
    if (error instanceof JsonPathError) throw new TemplateError(error.message);
    throw error;
  }
  if (path.names !== null) return memberPath(path.names);
  return path.many ? (root) => path.values(root) : (root) => path.values(root)[0];
}

/** Most paths consist of names only: following them allocates no list. */
function memberPath(names: readonly string[]): ValuePath {
  return (root) => {
    let value: JsonValue | undefined = root;
    for (const name of names) {
      if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
      value = value[name];
    }
    return value;
  };
}

/** Undefined if there is no value. Null counts as a value. */
export function resolve(reference: Reference, sources: Sources, item: Item | null): JsonValue | undefined {
  switch (reference.from) {
    case 'capture': {
      const text = sources.context.request.uriCaptures()[reference.name];
      return text === undefined ? undefined : decodedCapture(text);
    }
    case 'query':
      return sources.context.request.queryArgument(reference.name) ?? undefined;
    case 'header': {
      const { request, upstream } = sources.context;
      // As a backend would receive it: without headers by which clients claim an identity.
      const value = reference.name === 'host' ? request.header('host') : upstream.headerValues(reference.name)[0];
      return value === undefined || value === null ? undefined : utf8Of(value);
    }
    case 'consumer':
      return consumerField(sources.context, reference.name);
    case 'claims':
      return at(reference.path, (sources.context.client.details?.claims ?? undefined) as JsonValue | undefined);
    case 'body':
      return at(reference.path, sources.body);
    case 'item':
      return at(reference.path, item?.value);
    case 'index':
      return item?.index;
    case 'part':
      return sources.part(reference.part, reference.of);
  }
}

/** The value at the path below `root`. */
export function at(path: ValuePath | null, root: JsonValue | undefined): JsonValue | undefined {
  return path === null || root === undefined ? root : path(root);
}

function consumerField({ client: { consumer } }: AccessContext, name: string): string | undefined {
  if (consumer === null) return undefined;
  if (name === 'id') return consumer.id;
  return (name === 'username' ? consumer.username : consumer.customId) ?? undefined;
}

const triplet = /%([0-9A-Fa-f]{2})/g;

/** Decodes a piece of the normalised path, in which reserved characters are still escaped. */
function decodedCapture(text: string): string {
  if (!text.includes('%')) return utf8Of(text);
  return utf8Of(text.replace(triplet, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))));
}

/** `bytes`: one char for each byte. */
function utf8Of(bytes: string): string {
  return /^[\0-\x7f]*$/.test(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}
