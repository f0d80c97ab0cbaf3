import {
  type AccessContext,
  type IpSet,
  ipSet,
  type PluginPhases,
  type Reply,
  refuse,
} from '../../plugin-sdk/index.ts';
import type { IpRestrictionConfig } from './schema.ts';

export function restrictByIp(config: IpRestrictionConfig): PluginPhases {
  const denied = setOrNull(config.deny);
  const allowed = setOrNull(config.allow);
  const status = config.status ?? 403;
  return {
    access({ client }: AccessContext): Reply | undefined {
      const refused = denied?.has(client.ip) === true || allowed?.has(client.ip) === false;
      return refused ? refuse(status, config.message ?? `IP address not allowed: ${client.ip}`) : undefined;
    },
  };
}

function setOrNull(list: readonly string[] | null): IpSet | null {
  return list === null || list.length === 0 ? null : ipSet(list);
}
