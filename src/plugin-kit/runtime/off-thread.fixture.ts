/** Functions that the test of `offThread` runs in its thread. */

export function add(a: number, b: number): number {
  return a + b;
}

class FixtureError extends Error {
  readonly where: string;

  constructor(where: string) {
    super('failed');
    this.name = 'FixtureError';
    this.where = where;
  }
}

export function fail(where: string): never {
  throw new FixtureError(where);
}

export function spin(): void {
  for (;;);
}
