import { version } from '../../../version.ts';
import type { Bits64 } from './messages.ts';

/** The value of an attribute. */
export type AttributeValue = string | number | boolean | readonly string[];

/** Attributes by name; null and undefined values are omitted. */
export type Attributes = Readonly<Record<string, AttributeValue | null | undefined>>;

export interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: number | Bits64;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values: readonly AnyValue[] };
}

export interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

/** Maximum length of a text, in characters: a client may have chosen it. */
const maxText = 4096;

export function keyValues(attributes: Attributes): readonly KeyValue[] {
  const list: KeyValue[] = [];
  for (const key in attributes) {
    const value = attributes[key];
    if (value !== null && value !== undefined) list.push({ key, value: anyValue(value) });
  }
  return list;
}

export function anyValue(value: AttributeValue): AnyValue {
  switch (typeof value) {
    case 'string':
      return { stringValue: sentText(value) };
    case 'number':
      return Number.isSafeInteger(value) ? { intValue: value } : { doubleValue: value };
    case 'boolean':
      return { boolValue: value };
    default:
      return { arrayValue: { values: value.map((text) => ({ stringValue: sentText(text) })) } };
  }
}

/** Valid UTF-8 once it is encoded: a collector refuses a whole batch for one text that is not. */
export function sentText(text: string): string {
  const short = text.length > maxText ? text.slice(0, maxText) : text;
  return short.isWellFormed() ? short : short.toWellFormed();
}

/** The sender: the same in all signals of an instance. */
export interface Resource {
  readonly attributes: readonly KeyValue[];
}

/** OTLP's instrumentation scope: the library that produced the data. */
export const scope = Object.freeze({ name: 'sluicegate', version });

/** Kong's attributes of the resource, and those of the configuration, which take precedence. */
export function resourceOf(node: { readonly id: string }, own: Readonly<Record<string, string>> | null): Resource {
  const standard = { 'service.name': 'kong', 'service.instance.id': node.id, 'service.version': version };
  return { attributes: keyValues({ ...standard, ...own }) };
}
