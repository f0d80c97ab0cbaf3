import { schemaProblem } from '../../plugin-kit/json-schema/index.ts';
import type { BodyValidatorConfig } from './schema.ts';

/** Problems of the schemas, by field. */
export function problemsOf(config: BodyValidatorConfig): Readonly<Record<string, string>> | null {
  const problems: Record<string, string> = {};
  for (const field of ['schema', 'response_schema'] as const) {
    const text = config[field];
    const problem = text === null ? null : schemaProblem(text, config.version);
    if (problem !== null) problems[`config.${field}`] = `is not a usable JSON Schema: ${problem}`;
  }
  return Object.keys(problems).length === 0 ? null : problems;
}
