import { changedFixedModule } from '../../shared/plugin-loader/code/plugin-code.ts';
import type { TriedPlugin } from '../../shared/plugin-loader/trial/trial.ts';

const advice = 'restart the node, or use `sluicegate upgrade`';

/** Why a running node cannot exchange the code; null: it can. The lists have the same plugins, if that is possible. */
export function refusal(before: readonly TriedPlugin[], next: readonly TriedPlugin[]): string | null {
  const names = (plugins: readonly TriedPlugin[]) => plugins.map(({ name }) => name).toSorted();
  if (names(before).join() !== names(next).join())
    return `the plugins have other names now (${names(before).join(', ')}; then ${names(next).join(', ')}): ${advice}`;
  for (const plugin of next) {
    const old = before.find(({ name }) => name === plugin.name);
    const reason = old === undefined ? null : difference(old, plugin);
    if (reason !== null) return `plugin '${plugin.name}' ${reason}: ${advice}`;
  }
  return null;
}

function difference(before: TriedPlugin, next: TriedPlugin): string | null {
  if (before.code.file !== next.code.file) return `is loaded from another file now (${next.code.file})`;
  if (before.entities !== next.entities) return 'has other entities now';
  if (before.adminRoutes !== next.adminRoutes) return 'has other paths of the Admin API now';
  const file = changedFixedModule(before.code, next.code);
  return file === null ? null : `has a CommonJS module that has changed and cannot be loaded again (${file})`;
}
