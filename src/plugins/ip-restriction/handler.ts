import { type IpSet, ipSet } from '../../plugin-kit/net/index.ts';
import type { AccessContext, PluginPhases, Reply, StreamContext } from '../../plugin-sdk/index.ts';
import { refuse } from '../../plugin-sdk/index.ts';
import type { IpRestrictionConfig } from './schema.ts';

export function restrictByIp(config: IpRestrictionConfig): PluginPhases {
  const denied = setOrNull(config.deny);
  const allowed = setOrNull(config.allow);
  const status = config.status ?? 403;
  const mayPass = (ip: string): boolean => denied?.has(ip) !== true && allowed?.has(ip) !== false;
  return {
    access({ client }: AccessContext): Reply | undefined {
      if (mayPass(client.ip)) return undefined;
      return refuse(status, config.message ?? `IP address not allowed: ${client.ip}`);
    },
    accept: ({ client }: StreamContext) => mayPass(client.ip),
  };
}

function setOrNull(list: readonly string[] | null): IpSet | null {
  return list === null || list.length === 0 ? null : ipSet(list);
}
