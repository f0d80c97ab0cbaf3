import { buildRegex } from '../../shared/util/linear-regex.ts';
import { parseRegex } from '../../shared/util/regex/parse-regex.ts';
import type { RouteQuery } from './router.ts';
import { toLatin1Bytes } from './to-latin1-bytes.ts';

/** One header name of a route, compiled: some value of the request must be allowed. */
export interface HeaderCondition {
  /** Lower case with `-` for `_`. */
  readonly name: string;
  /** Lower case. */
  readonly values: ReadonlySet<string>;
  readonly patterns: readonly RegExp[];
}

const PATTERN_PREFIX = '~*';

export function compileHeaderConditions(
  headers: Readonly<Record<string, readonly string[]>> | null,
): readonly HeaderCondition[] {
  if (headers === null) return [];
  return Object.entries(headers).map(([name, values]) => {
    if (values.length === 0) throw new Error(`header '${name}' has no values`);
    const patterns = values.filter((value) => value.startsWith(PATTERN_PREFIX));
    return {
      name: name.toLowerCase().replaceAll('_', '-'),
      values: new Set(
        values.filter((value) => !value.startsWith(PATTERN_PREFIX)).map((value) => toLatin1Bytes(value).toLowerCase()),
      ),
      patterns: patterns.map((value) => compilePattern(name, value.slice(PATTERN_PREFIX.length))),
    };
  });
}

function compilePattern(name: string, source: string): RegExp {
  try {
    return buildRegex(parseRegex(source, { ignoreCase: true, dotAll: false, bytes: true }));
  } catch (error) {
    throw new Error(`header '${name}': invalid regex '${source}': ${(error as Error).message}`, { cause: error });
  }
}

export function meetsHeaderConditions(conditions: readonly HeaderCondition[], query: RouteQuery): boolean {
  for (const condition of conditions) if (!meets(condition, query.headerValues(condition.name))) return false;
  return true;
}

/** Whether one of the values sent is allowed. */
export function meets(condition: HeaderCondition, sent: readonly string[]): boolean {
  for (const value of sent) {
    if (condition.values.has(value.toLowerCase())) return true;
    for (const pattern of condition.patterns) if (pattern.test(value)) return true;
  }
  return false;
}
