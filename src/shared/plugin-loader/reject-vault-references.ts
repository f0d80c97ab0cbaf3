/**
 * Throws when a string of a configuration is a vault reference (`{vault://env/my-secret}`). Nothing resolves them in
 * configurations of plugins. Used as the secret itself, a reference would be easy to guess.
 */
export function rejectVaultReferences(value: unknown, path = 'config'): void {
  if (typeof value === 'string') {
    if (!value.startsWith('{vault://') || !value.endsWith('}')) return;
    throw new Error(`${path} is a reference to a vault; configurations of plugins must hold the value itself`);
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) rejectVaultReferences(part, `${path}.${name}`);
}
