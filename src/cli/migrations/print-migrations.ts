import type { MigrationState } from '../../control/store/open-migrations.ts';
import type { CommandContext } from '../command.ts';

const needsBootstrap = "Database needs bootstrapping; run 'sluicegate migrations bootstrap'";

/** Prints the steps; returns Kong's exit code: 0 up to date, 3 no store yet, 4 to be finished, 5 new steps. */
export function listMigrations(context: CommandContext, state: MigrationState | null): number {
  if (state === null) {
    context.out(needsBootstrap);
    return 3;
  }
  print(context, 'Executed migrations', state.executed);
  print(context, 'Migrations of a later version', state.unknown);
  print(context, 'Pending migrations', state.pending);
  print(context, 'New migrations available', state.fresh);
  if (state.pending.length > 0) {
    context.out("Run 'sluicegate migrations finish' when every node has this version");
    return 4;
  }
  if (state.fresh.length > 0) {
    context.out("Run 'sluicegate migrations up' to proceed");
    return 5;
  }
  return 0;
}

/** For scripts, with Kong's names. */
export function statusOf(state: MigrationState | null): Readonly<Record<string, unknown>> {
  return {
    needs_bootstrap: state === null,
    executed_migrations: state?.executed ?? [],
    pending_migrations: state?.pending ?? [],
    new_migrations: state?.fresh ?? [],
    unknown_migrations: state?.unknown ?? [],
  };
}

function print(context: CommandContext, title: string, names: readonly string[]): void {
  if (names.length === 0) return;
  context.out(`${title}:`);
  for (const name of names) context.out(`  ${name}`);
}
