import type { PreparedSchema } from '../../plugin-kit/json-schema/index.ts';
import { checkSchema, compileSchema, SchemaError, stylesOf } from '../../plugin-kit/json-schema/index.ts';
import { bodySchema, parameterSchema } from './compile-config.ts';
import type { RequestValidatorConfig } from './schema.ts';

/** Problems of the schemas, by field. */
export function problemsOf(given: RequestValidatorConfig): Readonly<Record<string, string>> | null {
  const problems: Record<string, string> = {};
  const { body_schema: body, version } = given;
  const report = (field: string, problem: string | null): void => {
    if (problem !== null) problems[`config.${field}`] = problem;
  };
  if (body !== null)
    report(
      'body_schema',
      problemOf(() => check(bodySchema(body, version))),
    );
  for (const [at, one] of (given.parameter_schema ?? []).entries()) {
    const { schema, style, in: place } = one;
    const field = `parameter_schema.${at}`;
    if (style !== null && !stylesOf[place].includes(style)) report(`${field}.style`, `a ${place} is not written so`);
    else if (schema !== null)
      report(
        `${field}.schema`,
        problemOf(() => check(parameterSchema(schema, version))),
      );
  }
  return Object.keys(problems).length === 0 ? null : problems;
}

function check(prepared: PreparedSchema): void {
  checkSchema(prepared);
  compileSchema(prepared);
}

function problemOf(work: () => void): string | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof SchemaError) return `is not a usable schema: ${error.message}`;
    throw error;
  }
}
