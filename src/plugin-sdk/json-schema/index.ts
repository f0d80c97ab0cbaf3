/**
 * Checks of values against JSON Schema, for the plugins that do so. Apart from the SDK's `index.ts`, because it brings the
 * validator, which other workers need not load.
 */
export { answerCopy } from '../answer-copy.ts';
export * from './answer-checks.ts';
export * from './body-judge.ts';
export * from './body-reply.ts';
export { checkSchema, compileSchema, type SchemaCheck, type Violation } from './compile-schema.ts';
export type { Dialect } from './dialect.ts';
export * from './media-ranges.ts';
export * from './parameter-styles.ts';
export { formValue } from './parameter-values.ts';
export * from './parameters.ts';
export { type PreparedSchema, type PrepareOptions, prepareSchema } from './prepare-schema.ts';
export { type RawArgument, rawArguments } from './raw-arguments.ts';
export { pointerStep, SchemaError } from './schema-error.ts';
export * from './schema-of-text.ts';
export { SchemaSet } from './schema-set.ts';
export { anyShape, type Shape, scalarOf, shapeOf } from './shape.ts';
