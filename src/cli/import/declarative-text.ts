import { stringify } from 'yaml';
import type { Plan, PlannedPlugin } from '../../control/apis/plan/plan-api.ts';
import type { JsonObject } from '../../plugin-kit/json/json.ts';

/** The plan in the declarative format of Kong. */
export function declarativeText({ service, fields, plugins, routes }: Plan): string {
  const whole = {
    _format_version: '3.0',
    services: [
      {
        name: service,
        ...withoutNull(fields),
        ...listed('plugins', plugins.map(pluginEntry)),
        routes: routes.map((route) => ({
          name: route.name,
          ...withoutNull(route.fields),
          ...listed('plugins', route.plugins.map(pluginEntry)),
        })),
      },
    ],
  };
  return stringify(whole, { aliasDuplicateObjects: false, lineWidth: 0 }).trimEnd();
}

function pluginEntry({ id, fields }: PlannedPlugin): JsonObject {
  return { id, ...fields };
}

function listed(name: string, entries: readonly JsonObject[]): Readonly<Record<string, readonly JsonObject[]>> {
  return entries.length === 0 ? {} : { [name]: entries };
}

function withoutNull(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
