/** What `packages/create-sluicegate-plugin` exports. It is plain JavaScript: `npm create` runs it as it is. */
export interface PluginCreator {
  /**
   * Writes a new plugin into a folder, which need not exist; its last part is the name.
   *
   * @param options.gateway Version of the gateway that the plugin needs at least.
   * @throws Error of one line: the name cannot be used, or the folder is not empty.
   */
  createPlugin(folder: string, options: { readonly gateway: string }): void;
  /** What to print afterwards. */
  nextSteps(folder: string): readonly string[];
}

/** The same relative path leads there from the sources and from the compiled package. */
export async function loadCreator(): Promise<PluginCreator> {
  const module = new URL('../../../packages/create-sluicegate-plugin/create-plugin.js', import.meta.url);
  return (await import(module.href)) as PluginCreator;
}
