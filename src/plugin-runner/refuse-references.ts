/**
 * Throws when a text of a configuration is a reference to a vault (`{vault://env/my-secret}`). Nothing resolves them in
 * configurations of plugins; taken for the secret itself, a reference would be one that everybody can guess.
 */
export function refuseReferences(value: unknown, path = 'config'): void {
  if (typeof value === 'string') {
    if (!value.startsWith('{vault://') || !value.endsWith('}')) return;
    throw new Error(`${path} is a reference to a vault; configurations of plugins must hold the value itself`);
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) refuseReferences(part, `${path}.${name}`);
}
