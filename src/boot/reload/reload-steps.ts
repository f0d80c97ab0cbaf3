import type { Settings } from '../../shared/settings/settings.ts';

/** What a reload can do about some settings, or about files that they name. */
export interface ReloadStep {
  /** The settings that it applies, by their names; empty: it only reads files again. */
  readonly settings: readonly string[];
  /**
   * Checks the new settings, at each reload, whether they have changed or not: files may have. Returns what applies them, null when
   * there is nothing to do. Throws an `Error` of one line when they cannot be used: then no step is applied.
   */
  prepare(next: Settings, changed: ReadonlySet<string>): Apply | null | Promise<Apply | null>;
}

/** Applies a step. It must not fail: everything that could was checked. */
export type Apply = () => void | Promise<void>;

/** The steps of a reload, in the order in which the parts of a node have added them. */
export class ReloadSteps {
  readonly #steps: ReloadStep[] = [];

  add(step: ReloadStep): void {
    this.#steps.push(step);
  }

  /** Names of the settings that some step applies. */
  get settings(): ReadonlySet<string> {
    return new Set(this.#steps.flatMap(({ settings }) => settings));
  }

  async run(next: Settings, changed: ReadonlySet<string>): Promise<void> {
    const prepared: Apply[] = [];
    for (const step of this.#steps) {
      const apply = await step.prepare(next, changed);
      if (apply !== null) prepared.push(apply);
    }
    for (const apply of prepared) await apply();
  }
}
