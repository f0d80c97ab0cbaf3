import { entityMark, type PluginCall } from '../zones/worker-vitals.ts';
import type { SnapshotDelta, SnapshotEntity } from './messages.ts';

/**
 * Names the plugin, its instance and the route of a worker's current call, for a line of the error log. A worker that is in
 * no call may be in code that a plugin left behind (a timer, what follows an `await`): then the fields begin with `last_`.
 */
export function pluginCallFields(
  { phase, instance, route }: PluginCall,
  config: SnapshotDelta,
): Readonly<Record<string, unknown>> {
  const plugin = rowOf(config, 'plugins', instance);
  if (plugin === null) return {};
  const matched = rowOf(config, 'routes', route);
  const prefix = phase === null ? 'last_' : '';
  return {
    [`${prefix}plugin`]: plugin['name'],
    [`${prefix}plugin_instance`]: plugin['id'],
    ...(phase === null ? {} : { phase }),
    ...(matched === null ? {} : { [`${prefix}route`]: matched['name'] ?? matched['id'] }),
  };
}

function rowOf(
  { upserts }: SnapshotDelta,
  entity: SnapshotEntity,
  mark: number,
): Readonly<Record<string, unknown>> | null {
  if (mark === 0) return null;
  return upserts[entity]?.find((row) => entityMark(row.id) === mark) ?? null;
}
