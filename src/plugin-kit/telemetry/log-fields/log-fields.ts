import type { PluginTools } from '../../../plugin-sdk/tools.ts';
import { recordLine } from '../../../shared/logs/record-line.ts';
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
  /** The record with them as a line of JSON. Throws for a value that JSON cannot represent. */
  line(context: LogSource): string;
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
  if (root.members.size === 0) return { line: plainLine, unserialisable };
  return {
    line(context) {
      const record = context.record();
      return recordLine(changed(record, root, new LogView(context, record)));
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
    return fields.line(context);
  } catch {
    fields.unserialisable();
    return null;
  }
}

/** Streams are few, and have only the record. */
function plainLine(context: LogSource): string {
  return 'recordText' in context ? context.recordText() : recordLine(context.record());
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
