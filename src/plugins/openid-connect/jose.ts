/** The parts of the library that are used; loaded with the first keys, so that a worker without this plugin has none of it. */
async function load() {
  const [{ jwtVerify }, { createLocalJWKSet }, errors] = await Promise.all([
    import('jose/jwt/verify'),
    import('jose/jwks/local'),
    import('jose/errors'),
  ]);
  return { jwtVerify, createLocalJWKSet, errors };
}

export type Jose = Awaited<ReturnType<typeof load>>;

let loaded: Promise<Jose> | null = null;

export function jose(): Promise<Jose> {
  loaded ??= load();
  return loaded;
}
