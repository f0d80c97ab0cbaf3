import { type Item, parseReference, type Reference, resolve, type Sources, TemplateError } from './reference.ts';
import { textOf } from './template.ts';

/** Whether a part is requested. */
export interface Condition {
  readonly reference: Reference;
  holds(sources: Sources, item: Item | null): boolean;
}

const shape = /^(!)?\{([^{}]+)\}(?:(!?=)([^{}]*))?$/;

/** Parses `{query.expand}`, `!{query.brief}`, `{user.body.kind}=company` or `{...}!=...`. Throws a `TemplateError`. */
export function compileCondition(text: string): Condition {
  const [, not, name, operator, expected] = shape.exec(text) ?? [];
  if (name === undefined || (not !== undefined && operator !== undefined)) {
    throw new TemplateError('it must be {reference}, !{reference}, {reference}=text or {reference}!=text');
  }
  const reference = parseReference(name);
  if (operator === undefined) {
    return { reference, holds: (sources, item) => isTrue(resolve(reference, sources, item)) === (not === undefined) };
  }
  return {
    reference,
    holds: (sources, item) => (textOf(resolve(reference, sources, item)) === expected) === (operator === '='),
  };
}

/** Undefined, null, false, 0 and empty values are false. */
function isTrue(value: ReturnType<typeof resolve>): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== undefined && value !== null && !['', '0', 'false'].includes(textOf(value) ?? 'object');
}
