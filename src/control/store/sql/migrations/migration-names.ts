/** Names of the steps in `migrations.ts`, without the code of the steps: a store that has them all needs none of it. */
export const baseMigrationNames: readonly string[] = [
  '0001-bookkeeping',
  '0002-limit-counters',
  '0003-audit',
  '0004-analytics',
  '0005-history',
  '0006-config-history',
];

/** `finishes`: the step has a part `finish`. */
export const laterMigrationNames: readonly { readonly name: string; readonly finishes: boolean }[] = [
  { name: '0007-nodes', finishes: false },
];
