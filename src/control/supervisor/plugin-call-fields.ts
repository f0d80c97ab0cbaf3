import type { SnapshotDelta, SnapshotEntity } from '../../shared/messages/messages.ts';
import { entityMark, type PluginCall } from '../../shared/zones/worker-vitals.ts';

/**
 * Names the plugin, its instance and the route of a worker's current call, for a line of the error log. Outside a
 * call, a worker may run code that a plugin started earlier (a timer, code after an `await`): then the fields begin with `last_`.
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
