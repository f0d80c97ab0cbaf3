import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import { stepKeyword } from './prepare-schema.ts';

/**
 * A schema that refers to itself in several branches of `anyOf` or `oneOf` takes time exponential in the depth of the value. So the
 * references that are followed are counted, and the check of a value that needs more of them than its size explains is aborted.
 */
let stepsLeft = 0;

export class StepsSpent extends Error {
  constructor() {
    super('checking it takes too many steps');
    this.name = 'StepsSpent';
  }
}

/** `size`: bytes of the text that the value was read from. */
export function allowSteps(size: number): void {
  stepsLeft = 20_000 + size;
}

export function addKeywords(ajv: Ajv): void {
  // After a reference that fails it would not be reached.
  ajv.addKeyword({ before: '$ref', keyword: stepKeyword, schemaType: 'boolean', errors: false, validate: step });
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    validate: (wanted: boolean, items: readonly unknown[]) => !wanted || allDifferent(items),
    error: { message: 'must NOT have duplicate items' },
  });
}

function step(): boolean {
  if (--stepsLeft < 0) throw new StepsSpent();
  return true;
}

/** Resolves `$ref` with `validatorOf`, on demand. */
export function referTo(ajv: Ajv, validatorOf: (ref: string) => ValidateFunction): void {
  const follow: {
    (ref: string, value: unknown, parent: unknown, place: DataValidationCxt): boolean;
    errors?: ErrorObject[];
  } = (ref, value, _parent, place) => {
    step();
    const validate = validatorOf(ref);
    if (validate(value, place)) return true;
    follow.errors = validate.errors ?? [];
    return false;
  };
  ajv.removeKeyword('$ref');
  ajv.addKeyword({ keyword: '$ref', schemaType: 'string', errors: 'full', validate: follow as never });
}

/** Takes time linear in the text of the items; comparing all pairs would not. */
function allDifferent(items: readonly unknown[]): boolean {
  const seen = new Set<unknown>();
  for (const item of items) {
    // A string cannot be mistaken for an object: one begins with a quotation mark, the other with a brace.
    const key =
      typeof item === 'object' && item !== null ? canonical(item) : typeof item === 'string' ? `"${item}` : item;
    if (seen.has(key)) return false;
    seen.add(key);
  }
  return true;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (--stepsLeft < 0) throw new StepsSpent();
  const object = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(object);
  if (names.length > 1) names.sort();
  let text = '{';
  for (const name of names) text += `${JSON.stringify(name)}:${canonical(object[name])},`;
  return `${text}}`;
}
