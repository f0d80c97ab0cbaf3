/** Paths of the modules from which plugins of users were loaded. */
const files = new WeakMap<object, string>();

export function rememberOrigin(plugin: object, file: string): void {
  files.set(plugin, file);
}

/** Null: the plugin is a bundled one. */
export function originOf(plugin: object): string | null {
  return files.get(plugin) ?? null;
}
