import { isIP, isIPv4 } from 'node:net';
import type { DnsSettings } from '../settings.ts';
import { SettingsError } from '../settings-error.ts';
import { type Kind, splitList } from './kinds.ts';

type Server = DnsSettings['servers'][number];
type OrderEntry = DnsSettings['order'][number];

const defaultPort = 53;

/** `10.0.0.2, 10.0.0.3:5353, [2001:db8::1]:53`. */
export const nameServers: Kind<readonly Server[]> = {
  label: 'list of IP addresses, each with or without a port',
  parse(name, text) {
    return splitList(text).map((entry) => {
      const server = parseServer(entry);
      if (server !== null) return server;
      throw new SettingsError(
        `${name} must be a comma separated list in the form of IPv4/6 or IPv4/6:port, got '${entry}'`,
      );
    });
  },
  show: (_value, text) => splitList(text),
};

function parseServer(text: string): Server | null {
  if (isIP(text) !== 0) return { ip: text, port: defaultPort };
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text);
  const ip = match?.[1] ?? match?.[2] ?? '';
  const port = Number(match?.[3] ?? defaultPort);
  const isAddress = match?.[1] === undefined ? isIPv4(ip) : isIP(ip) === 6;
  return isAddress && port >= 1 && port <= 65535 ? { ip, port } : null;
}

/** Record types in the order in which they are queried. */
export function recordOrder(legacy: boolean): Kind<readonly OrderEntry[]> {
  const allowed: readonly OrderEntry[] = legacy ? ['LAST', 'SRV', 'A', 'AAAA', 'CNAME'] : ['A', 'AAAA', 'SRV'];
  return {
    label: `list of ${allowed.map((entry) => `\`${entry}\``).join(', ')}`,
    parse(name, text) {
      const entries = splitList(text).map((entry) => {
        const found = allowed.find((word) => word === entry.toUpperCase());
        if (found === undefined) throw new SettingsError(`${name}: invalid entry '${entry}' (${allowed.join(', ')})`);
        return found;
      });
      if (entries.every((entry) => entry === 'LAST')) throw new SettingsError(`${name} names no type of record`);
      return [...new Set(entries)];
    },
    show: (_value, text) => splitList(text),
  };
}
