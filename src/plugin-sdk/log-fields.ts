import type { PluginTools } from './define-plugin.ts';
import { type LogSource, LogView } from './log-fields/log-view.ts';
import { compileLua } from './log-fields/lua.ts';
import { fieldPath } from './log-fields/paths.ts';
import { compileTemplate, type TemplateContext } from './templates.ts';

export type { LogSource } from './log-fields/log-view.ts';

/** What `logFields` of the schema makes. */
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

/** The fields that a configuration adds to records, takes out, or changes. */
export interface LogFields {
  /** The record with them. One that nothing is added to is given as it came; it is not to be changed. */
  of(context: LogSource): Fields;
  /** A record cannot be a line. */
  unserialisable(): void;
}

/**
 * Compiles `custom_fields` and `custom_fields_by_lua`; where both name a field the former wins. A field whose expression fails for
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
 * The record with its custom fields as one line of JSON, without an end of line: JSON escapes them, so nothing that a client sends can
 * begin a second one. Null when it cannot be one (a cycle, a BigInt): that is counted as `records_unserialisable`. Never throws.
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
 * Route and service are most of a record, and the same objects in all records of a row: their texts are kept. The rest is written in
 * one go.
 */
function lineOf(record: Fields): string {
  const { route, service, ...rest } = record;
  const text = withoutLineEnds(JSON.stringify(rest));
  const rows = memberText('route', route) + memberText('service', service);
  if (rows === '') return text;
  return text === '{}' ? `{${rows.slice(1)}}` : `${text.slice(0, -1)}${rows}}`;
}

/** Escapes what JSON leaves as it is, and some readers take for an end of line: NEL, and the two separators of Unicode. */
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

/** A text that comes out empty is no value. */
function templateValue(text: string): FieldValue {
  const template = compileTemplate(text, { over: 'answer' });
  if (template.constant !== null) {
    const value = template.constant === '' ? undefined : template.constant;
    return () => value;
  }
  // The view has all that expressions read.
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

/** A copy of what changes; the record is shared by all plugins. */
function changed(fields: Fields, node: Node, view: LogView): Fields {
  const copy: Record<string, unknown> = { ...fields };
  for (const [name, { value, members }] of node.members) {
    const before = Object.hasOwn(copy, name) ? copy[name] : undefined;
    let after = value === null ? before : value(view);
    if (members.size > 0) after = withMembers(after, { value, members }, view);
    // What is undefined is not written.
    if (after !== before) copy[name] = after;
  }
  return copy;
}

/** Something that is no object gives way to one, unless nothing would be in it. */
function withMembers(value: unknown, node: Node, view: LogView): unknown {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return changed(value as Fields, node, view);
  const made = changed({}, node, view);
  return Object.values(made).some((member) => member !== undefined) ? made : value;
}
