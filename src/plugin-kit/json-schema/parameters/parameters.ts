import { compileSchema, type Violation } from '../compile-schema.ts';
import { anyShape, shapeOf } from '../shape.ts';
import { type ParameterPlace, type ParameterStyle, stylesOf } from './parameter-styles.ts';
import type { Parameter, ParameterOptions, ParameterSource } from './parameter-types.ts';
import { Fault, parameterValue } from './parameter-values.ts';

/** Throws a `SchemaError` when the schema cannot be used. */
export function compileParameter(options: ParameterOptions): Parameter {
  const style = options.style ?? (stylesOf[options.in][0] as ParameterStyle);
  const { schema, ...rest } = options;
  return {
    ...rest,
    style,
    explode: options.explode ?? style === 'form',
    allowEmpty: options.allowEmpty ?? false,
    json: options.json ?? false,
    shape: schema === null ? anyShape : shapeOf(schema),
    check: schema === null ? null : (options.check ?? compileSchema(schema)),
  };
}

export interface ParameterViolation extends Violation {
  readonly in: ParameterPlace;
  readonly name: string;
}

const maxPerParameter = 5;

/** The violations of one parameter of a request. */
export function parameterViolations(parameter: Parameter, source: ParameterSource): readonly ParameterViolation[] {
  const { in: place, name, required, check } = parameter;
  const located = (violation: Violation): ParameterViolation => ({ in: place, name, ...violation });
  const value = parameterValue(parameter, source);
  if (value === undefined) {
    return required ? [located({ pointer: '', rule: 'required', message: 'is missing' })] : [];
  }
  if (value instanceof Fault) return [located({ pointer: '', rule: 'syntax', message: value.message })];
  if (check === null || (value === '' && parameter.allowEmpty)) return [];
  return check(value, 16_000, maxPerParameter).map(located);
}
