import type { RequestView } from '../request-views.ts';
import { compileSchema, type SchemaCheck, type Violation } from './compile-schema.ts';
import { type ParameterPlace, type ParameterStyle, stylesOf } from './parameter-styles.ts';
import { Fault, parameterValue } from './parameter-values.ts';
import type { PreparedSchema } from './prepare-schema.ts';
import type { RawArgument } from './raw-arguments.ts';
import { anyShape, type Shape, shapeOf } from './shape.ts';

export interface ParameterOptions {
  readonly name: string;
  readonly in: ParameterPlace;
  readonly required: boolean;
  /** Default: `form` in query and cookies, `simple` in path and headers. */
  readonly style?: ParameterStyle;
  /** Default: true with `form`. */
  readonly explode?: boolean;
  /** An empty value is right. Default: false. */
  readonly allowEmpty?: boolean;
  /** The value is JSON. Default: false. */
  readonly json?: boolean;
  /** Null: any value is right. */
  readonly schema: PreparedSchema | null;
  /** The same schema, compiled. Default: it is compiled at once. */
  readonly check?: SchemaCheck;
}

export interface Parameter extends Required<Omit<ParameterOptions, 'schema' | 'check'>> {
  readonly shape: Shape;
  readonly check: SchemaCheck | null;
}

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

/** Where parameters are read from. */
export interface ParameterSource {
  readonly request: RequestView;
  readonly query: readonly RawArgument[];
  /** By name; percent-encoded. */
  readonly path: ReadonlyMap<string, string>;
}

export interface ParameterViolation extends Violation {
  readonly in: ParameterPlace;
  readonly name: string;
}

const mostPerParameter = 5;

/** What is wrong with one parameter of a request. */
export function parameterViolations(parameter: Parameter, source: ParameterSource): readonly ParameterViolation[] {
  const { in: place, name, required, check } = parameter;
  const told = (violation: Violation): ParameterViolation => ({ in: place, name, ...violation });
  const value = parameterValue(parameter, source);
  if (value === undefined) {
    return required ? [told({ pointer: '', rule: 'required', message: 'is missing' })] : [];
  }
  if (value instanceof Fault) return [told({ pointer: '', rule: 'syntax', message: value.message })];
  if (check === null || (value === '' && parameter.allowEmpty)) return [];
  return check(value, 16_000, mostPerParameter).map(told);
}
