import type { ListenAddress } from '../../shared/settings/settings.ts';
import { socketKey } from '../../shared/sockets/listening-sockets.ts';
import type { ListeningNode } from '../listen-node.ts';
import { listenersByName } from '../listeners/activated-sockets.ts';
import type { Estate } from './successor.ts';
import { ZoneExchange } from './zone-exchange.ts';

/** What a running node gives to the process that replaces it. `wanted`: the addresses as they were configured, with ports 0. */
export function estateOf(node: ListeningNode, wanted: readonly ListenAddress[]): Estate {
  const { settings, exclusive } = node.options;
  const bound = Object.entries(listenersByName).flatMap(([name, setting]) =>
    settings[setting].map((address) => ({ name, address })),
  );
  const byKey = new Map(
    bound.map(({ name, address }, at) => [socketKey(address), { name, address, chosen: wanted[at]?.port === 0 }]),
  );
  const ofNode = [...node.listeners, ...(node.dataPlanes === null ? [] : [node.dataPlanes])];
  const listening = [...node.supervisor.sockets(), ...ofNode.flatMap(({ sockets }) => sockets)];
  return {
    sockets: listening.flatMap(({ key, descriptor, reuseport: shared }) => {
      const found = byKey.get(key);
      if (found === undefined) return [];
      const { name, chosen, address } = found;
      const { ip, port, udp } = address;
      return [{ ip, port, udp, descriptor, reuseport: shared && !exclusive.has(key), name, chosen }];
    }),
    debugToken: settings.requestDebugToken,
    ticketKeys: node.ticketKeys.current,
    unhealthy: () => node.addresses.health.monitor.unhealthy(),
    exchange: new ZoneExchange(() => node.zones.list()),
  };
}
