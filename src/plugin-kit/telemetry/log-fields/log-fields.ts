import type { PluginTools } from '../../../plugin-sdk/tools.ts';
import { compileTemplate, type TemplateContext } from '../../templates/templates.ts';
import { type LogSource, LogView } from './log-view.ts';
import { compileLua } from './lua.ts';
import { fieldPath } from './paths.ts';

export type { LogSource } from './log-view.ts';

/** The values of the fields that `logFields` adds to a schema. */
export interface LogFieldsConfig {
  readonly custom_fields?: Readonly<Record<string, string>> | null;
  readonly custom_fields_by_lua?: Readonly<Record<string, string>> | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** A field's value; undefined: it is not in the record. */
type FieldValue = (view: LogView) => unknown;

interface Node {
  value: FieldValue | null;
  readonly members: Map<string, Node>;
}

/** The fields that a configuration adds to records, removes or changes. */
export interface LogFields {
  /** The record with them. The same object if there are none to add; do not change it. */
  of(context: LogSource): Fields;
  /** A record cannot be serialised. */
  unserialisable(): void;
}

/**
 * Compiles `custom_fields` and `custom_fields_by_lua`; if both name a field, the former takes precedence. A field whose expression fails for
 * some request is left out of its record, and counted as `fields_failed`. Throws a `TemplateError` for what the schema refuses.
 */
export function compileLogFields(config: LogFieldsConfig, tools: Pick<PluginTools, 'count'>): LogFields {
  const root: Node = { value: null, members: new Map() };
  const add = (name: string, value: FieldValue): void => {
    nodeAt(root, name).value = (view) => {
      try {
        return value(view) ?? undefined;
      } catch {
        tools.count('fields_failed');
        return undefined;
      }
    };
  };
  for (const [name, text] of Object.entries(config.custom_fields_by_lua ?? {})) add(name, compileLua(text));
  for (const [name, text] of Object.entries(config.custom_fields ?? {})) add(name, templateValue(text));
  const unserialisable = () => tools.count('records_unserialisable');
  if (root.members.size === 0) return { of: (context) => context.record(), unserialisable };
  return {
    of(context) {
      const record = context.record();
      return changed(record, root, new LogView(context, record));
    },
    unserialisable,
  };
}

/**
 * The record with its custom fields as one line of JSON, without an end of line: JSON escapes them, so no input of a client can
 * start a second line. Null when it cannot be serialised (a cycle, a BigInt); this is counted as `records_unserialisable`. Never throws.
 */
export function logLine(context: LogSource, fields: LogFields): string | null {
  try {
    return lineOf(fields.of(context));
  } catch {
    fields.unserialisable();
    return null;
  }
}

/**
 * Route and service are most of a record, and the same objects in all records of a row: their texts are cached. The rest is
 * serialised together.
 */
function lineOf(record: Fields): string {
  const { route, service, ...rest } = record;
  const text = withoutLineEnds(JSON.stringify(rest));
  const rows = memberText('route', route) + memberText('service', service);
  if (rows === '') return text;
  return text === '{}' ? `{${rows.slice(1)}}` : `${text.slice(0, -1)}${rows}}`;
}

/** Escapes characters that JSON does not, but that some readers treat as an end of line: NEL, and the two separators of Unicode. */
function withoutLineEnds(json: string): string {
  // Three searches for one character each cost a tenth of one by an expression.
  const isHarmless = !json.includes('\x85') && !json.includes('\u2028') && !json.includes('\u2029');
  return isHarmless ? json : json.replace(/[\x85\u2028\u2029]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const rowTexts = new WeakMap<object, string>();

function memberText(name: string, value: unknown): string {
  if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) {
    const text: string | undefined = JSON.stringify(value);
    return text === undefined ? '' : `,"${name}":${withoutLineEnds(text)}`;
  }
  let text = rowTexts.get(value);
  if (text === undefined) {
    text = `,"${name}":${withoutLineEnds(JSON.stringify(value))}`;
    rowTexts.set(value, text);
  }
  return text;
}

/** An empty result means no value. */
function templateValue(text: string): FieldValue {
  const template = compileTemplate(text, { over: 'answer' });
  if (template.constant !== null) {
    const value = template.constant === '' ? undefined : template.constant;
    return () => value;
  }
  // The view has everything that expressions read.
  return (view) => template.render(view as unknown as TemplateContext) || undefined;
}

function nodeAt(root: Node, name: string): Node {
  let node = root;
  for (const step of fieldPath(name)) {
    let next = node.members.get(step);
    if (next === undefined) {
      next = { value: null, members: new Map() };
      node.members.set(step, next);
    }
    node = next;
  }
  return node;
}

/** Copies the changed part; all plugins share the record. */
function changed(fields: Fields, node: Node, view: LogView): Fields {
  const copy: Record<string, unknown> = { ...fields };
  for (const [name, { value, members }] of node.members) {
    const before = Object.hasOwn(copy, name) ? copy[name] : undefined;
    let after = value === null ? before : value(view);
    if (members.size > 0) after = withMembers(after, { value, members }, view);
    // Undefined values are not serialised.
    if (after !== before) copy[name] = after;
  }
  return copy;
}

/** An object replaces any other value, unless the object would be empty. */
function withMembers(value: unknown, node: Node, view: LogView): unknown {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return changed(value as Fields, node, view);
  const made = changed({}, node, view);
  return Object.values(made).some((member) => member !== undefined) ? made : value;
}
