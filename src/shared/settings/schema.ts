import { database } from './definitions/database.ts';
import type { SettingDefinition } from './definitions/definition.ts';
import { dns } from './definitions/dns.ts';
import { general } from './definitions/general.ts';
import { hybrid } from './definitions/hybrid.ts';
import { listeners } from './definitions/listeners.ts';
import { observability } from './definitions/observability.ts';
import { proxy } from './definitions/proxy.ts';

/** Every setting, in the groups and the order of the reference. */
export const settingGroups = [
  { title: 'General', settings: general },
  { title: 'Listeners and client connections', settings: listeners },
  { title: 'Proxying', settings: proxy },
  { title: 'Logs, metrics, traces', settings: observability },
  { title: 'Name resolution', settings: dns },
  { title: 'Database', settings: database },
  { title: 'Control planes and data planes', settings: hybrid },
] as const;

const all = { ...general, ...listeners, ...proxy, ...observability, ...dns, ...database, ...hybrid } as const;

export type SettingName = keyof typeof all;

/** The parsed value of every setting. */
export type Values = {
  readonly [Name in SettingName]: (typeof all)[Name] extends SettingDefinition<infer T> ? T : never;
};

/** Every setting by its name. */
export const definitions: Readonly<Record<SettingName, SettingDefinition<unknown>>> = all;

export const settingNames = Object.keys(all) as readonly SettingName[];

const namesByAlias: ReadonlyMap<string, SettingName> = new Map(
  settingNames.flatMap((name) => [name, ...definitions[name].aliases].map((alias) => [alias, name] as const)),
);

/** The setting with this name or alias, or null. */
export function findSetting(name: string): SettingName | null {
  return namesByAlias.get(name) ?? null;
}

/** Every name that is accepted, aliases included. */
export function acceptedNames(): readonly string[] {
  return [...namesByAlias.keys()];
}
