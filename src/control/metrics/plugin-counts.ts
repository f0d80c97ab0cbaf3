/** What plugins counted, summed over all workers; `GET /status` shows it. */
export class PluginCounts {
  readonly #totals = new Map<string, Map<string, number>>();

  add(counts: readonly (readonly [plugin: string, name: string, by: number, ...rest: unknown[]])[]): void {
    for (const [plugin, name, by] of counts) {
      const names = this.#totals.get(plugin) ?? new Map<string, number>();
      this.#totals.set(plugin, names);
      names.set(name, (names.get(name) ?? 0) + by);
    }
  }

  /** By plugin and name. */
  totals(): Readonly<Record<string, Readonly<Record<string, number>>>> {
    return Object.fromEntries([...this.#totals].map(([plugin, names]) => [plugin, Object.fromEntries(names)]));
  }
}
