/** Where relative names of plugins start: at the file that names them, or else in the current directory. */
export function pluginBase({ pluginFolder }: { readonly pluginFolder: string | null }, cwd: string): string {
  return pluginFolder ?? cwd;
}
