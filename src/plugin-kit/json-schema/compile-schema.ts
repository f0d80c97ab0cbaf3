import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { compileRegex } from '../../shared/util/linear-regex.ts';
import type { CoreDialect } from './dialect.ts';
import { formats } from './formats.ts';
import { addKeywords, allowSteps, StepsSpent } from './keywords.ts';
import { type PreparedSchema, stepKeyword } from './prepare-schema.ts';
import { pointerStep, SchemaError } from './schema-error.ts';

/** One violation. It may show names of members, but never values. */
export interface Violation {
  /** JSON pointer to the value; '' is the whole document. */
  readonly pointer: string;
  /** The keyword of the schema: `required`, `type`. */
  readonly rule: string;
  readonly message: string;
}

/**
 * Lists the violations of a value that was read from a text of `size` bytes; empty: it is valid. At most `max` violations,
 * and only the first one of a large value.
 */
export type SchemaCheck = (value: unknown, size: number, max: number) => readonly Violation[];

/** Collecting violations after the first one costs memory and time for each. */
const maxForAll = 16_384;
const maxPointerLength = 256;

const regExp = Object.assign((pattern: string) => compileRegex(pattern), { code: 'compileRegex' });

const options: Options = {
  strictSchema: true,
  strictNumbers: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  allowMatchingProperties: true,
  allowUnionTypes: true,
  // Or `constructor` and the like would be members of every object.
  ownProperties: true,
  multipleOfPrecision: 9,
  logger: false,
  meta: false,
  validateSchema: false,
  code: { regExp },
};

/** Compiles a schema; the rest is done when the first value is found wrong. Throws a `SchemaError`. */
export function compileSchema(prepared: PreparedSchema): SchemaCheck {
  const first = compiled(prepared, false);
  let all: ValidateFunction | null = null;
  return schemaCheck(
    () => first,
    () => {
      all ??= compiled(prepared, true);
      return all;
    },
  );
}

/** @internal `first` stops at the first violation, `all` does not. */
export function schemaCheck(firstOf: () => ValidateFunction, allOf: () => ValidateFunction): SchemaCheck {
  return (value, size, max) => {
    const first = firstOf();
    allowSteps(size);
    try {
      if (first(value)) return [];
    } catch (error) {
      if (!isSpent(error)) throw error;
      return [{ pointer: '', rule: 'steps', message: new StepsSpent().message }];
    }
    const errors = first.errors ?? [];
    if (max <= 1 || size > maxForAll) return violations(errors, max);
    return violations(allErrors(allOf(), value, size) ?? errors, max);
  };
}

/** A schema that refers to itself without a step into the value exhausts the stack. */
function isSpent(error: unknown): boolean {
  return error instanceof StepsSpent || error instanceof RangeError;
}

/** Checks a schema against its meta-schema. For the control plane. Throws a `SchemaError`. */
export function checkSchema(prepared: PreparedSchema): void {
  const meta = metaValidator(prepared.core);
  if (meta.validateSchema(prepared.schema) === true) return;
  const error = meta.errors?.at(-1) ?? meta.errors?.[0];
  const deepest = meta.errors?.reduce((a, b) => (b.instancePath.length > a.instancePath.length ? b : a)) ?? error;
  throw new SchemaError(deepest?.instancePath ?? '', deepest?.message ?? 'is not a schema');
}

function allErrors(all: ValidateFunction, value: unknown, size: number): readonly ErrorObject[] | null {
  allowSteps(size);
  try {
    return all(value) ? null : (all.errors ?? null);
  } catch (error) {
    if (isSpent(error)) return null;
    throw error;
  }
}

function compiled({ core, schema }: PreparedSchema, all: boolean): ValidateFunction {
  return compileWith(newValidator(core, all), schema);
}

/** @internal Throws a `SchemaError`. */
export function compileWith(ajv: Ajv, schema: PreparedSchema['schema']): ValidateFunction {
  try {
    return ajv.compile(schema);
  } catch (error) {
    throw new SchemaError('', error instanceof Error ? error.message : String(error));
  }
}

/** @internal */
export function newValidator(core: CoreDialect, all: boolean): Ajv {
  return newAjv(core, { ...options, allErrors: all });
}

function newAjv(core: CoreDialect, chosen: Options): Ajv {
  const Kind = core === 'draft-07' ? Ajv : core === '2019-09' ? Ajv2019 : Ajv2020;
  const ajv = new Kind(chosen) as Ajv;
  addKeywords(ajv);
  for (const [name, format] of formats) ajv.addFormat(name, format as true);
  return ajv;
}

const metaValidators = new Map<CoreDialect, Ajv>();

function metaValidator(core: CoreDialect): Ajv {
  const known = metaValidators.get(core);
  if (known !== undefined) return known;
  const made = newAjv(core, {
    ...options,
    strictSchema: false,
    meta: true,
    validateSchema: true,
    code: {},
    allErrors: true,
  });
  metaValidators.set(core, made);
  return made;
}

function violations(errors: readonly ErrorObject[], max: number): readonly Violation[] {
  return errors.slice(0, max).map(violation);
}

function violation({ instancePath, keyword, message = 'is wrong', params }: ErrorObject): Violation {
  const member = params['additionalProperty'] ?? params['unevaluatedProperty'];
  const pointer = typeof member === 'string' ? instancePath + pointerStep(member) : instancePath;
  const rule = keyword === stepKeyword ? 'steps' : keyword;
  return {
    pointer: pointer.slice(0, maxPointerLength),
    rule,
    message: keyword === 'false schema' ? 'must not be there' : message,
  };
}
