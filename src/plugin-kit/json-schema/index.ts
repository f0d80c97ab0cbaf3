/**
 * Validation of JSON, forms and parameters against JSON Schema and OpenAPI: `sluicegate/plugin-kit/json-schema`. `compileSchema`
 * validates a value; `bodyChecker` a request body, off thread when it is large; `answerChecks` the responses of backends;
 * `compileParameter` one parameter of a request.
 *
 * The subpath loads the validator, so import it where it is needed only: from `schema.ts`, or with `loadNow`.
 */

export { type AnswerCheckOptions, answerChecks, type Expectation } from './answer-checks.ts';
export { type BodyChecker, bodyChecker, type Verdict } from './body-checker.ts';
export { bodyRefusal, declaresNoBody, violationReply } from './body-reply.ts';
export { checkSchema, compileSchema, type SchemaCheck, type Violation } from './compile-schema.ts';
export type { Dialect } from './dialect.ts';
export { bodyType, matchesMediaRange, mediaRangePattern } from './media-ranges.ts';
export { type ParameterPlace, type ParameterStyle, stylesOf } from './parameters/parameter-styles.ts';
export type { Parameter, ParameterOptions, ParameterSource } from './parameters/parameter-types.ts';
export { formValue } from './parameters/parameter-values.ts';
export { compileParameter, type ParameterViolation, parameterViolations } from './parameters/parameters.ts';
export { type RawArgument, rawArguments } from './parameters/raw-arguments.ts';
export { type PreparedSchema, type PrepareOptions, prepareSchema } from './prepare-schema.ts';
export { pointerStep, SchemaError } from './schema-error.ts';
export { maxSchemaLength } from './schema-limits.ts';
export { schemaOfText, schemaProblem, textAsJson } from './schema-of-text.ts';
export { SchemaSet } from './schema-set.ts';
export { anyShape, type Shape, scalarOf, shapeOf } from './shape.ts';
