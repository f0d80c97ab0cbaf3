type Claims = Readonly<Record<string, unknown>>;

/** Whether a claim has one of the values. Numbers and booleans are compared by how they are written. */
export function claimMatcher(name: string, values: readonly string[]): (claims: Claims) => boolean {
  const wanted = new Set(values);
  const way = name.split('.');
  return (claims) => {
    const claim = Object.hasOwn(claims, name) ? claims[name] : follow(claims, way);
    return Array.isArray(claim) ? claim.some((element) => isWanted(element, wanted)) : isWanted(claim, wanted);
  };
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
