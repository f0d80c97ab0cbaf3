import { compileJsonPath, type JsonObject, JsonPathError } from '../../plugin-kit/json/index.ts';

type Claims = Readonly<Record<string, unknown>>;

const pathStart = /^\$[.[]/;

/**
 * Whether a claim has one of the values. Numbers and booleans are compared by how they are written. `name`: a path of RFC 9535, of whose
 * claims one must have one of the values, or a name; one with dots leads into nested claims unless there is a claim of that very name.
 * Throws a `JsonPathError`.
 */
export function claimMatcher(name: string, values: readonly string[]): (claims: Claims) => boolean {
  const wanted = new Set(values);
  if (pathStart.test(name)) {
    const path = compileJsonPath(name);
    return (claims) => path.values(claims as JsonObject).some((claim) => hasWanted(claim, wanted));
  }
  const way = name.split('.');
  return (claims) => hasWanted(Object.hasOwn(claims, name) ? claims[name] : follow(claims, way), wanted);
}

/** What is wrong with the name of a claim; null when nothing is. */
export function claimProblem(name: string): string | null {
  try {
    claimMatcher(name, []);
    return null;
  } catch (error) {
    if (error instanceof JsonPathError) return error.message;
    throw error;
  }
}

function hasWanted(claim: unknown, wanted: ReadonlySet<string>): boolean {
  return Array.isArray(claim) ? claim.some((element) => isWanted(element, wanted)) : isWanted(claim, wanted);
}

function follow(claims: Claims, way: readonly string[]): unknown {
  let value: unknown = claims;
  for (const step of way) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Claims)[step];
  }
  return value;
}

function isWanted(value: unknown, wanted: ReadonlySet<string>): boolean {
  switch (typeof value) {
    case 'string':
      return wanted.has(value);
    case 'number':
    case 'boolean':
      return wanted.has(String(value));
    default:
      return false;
  }
}
