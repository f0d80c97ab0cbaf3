/** Callers that wait for a condition, which is evaluated whenever something may have changed it. */
export class Waiters {
  readonly #checks = new Set<() => void>();

  /** Resolves to true when the condition holds, to false when `timeout` milliseconds are over. */
  wait(holds: () => boolean, timeout: number): Promise<boolean> {
    if (holds()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const finish = (held: boolean): void => {
        clearTimeout(timer);
        this.#checks.delete(check);
        resolve(held);
      };
      const check = (): void => {
        if (holds()) finish(true);
      };
      const timer = setTimeout(() => finish(false), timeout);
      this.#checks.add(check);
    });
  }

  check(): void {
    for (const check of [...this.#checks]) check();
  }
}
