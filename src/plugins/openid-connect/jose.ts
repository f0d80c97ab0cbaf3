/** The used parts of the library, loaded with the first keys: a worker without this plugin does not load it. */
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
