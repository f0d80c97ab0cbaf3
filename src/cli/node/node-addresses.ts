import { readFileSync } from 'node:fs';
import { isIP, isIPv6 } from 'node:net';
import { isJsonObject, type JsonValue } from '../../plugin-kit/json/json.ts';
import { reachableHost } from '../../shared/explain/own-listener.ts';
import { addressesFileOf } from '../../shared/settings/kinds/prefix.ts';

export interface BoundListener {
  readonly ip: string;
  readonly port: number;
  readonly ssl: boolean;
  readonly proxyProtocol: boolean;
}

/** The listen addresses that the node of the prefix wrote to its file; null: no file yet, or it is unreadable. */
export function boundListeners(prefix: string, kind: 'proxy' | 'admin'): readonly BoundListener[] | null {
  try {
    const bound: JsonValue = JSON.parse(readFileSync(addressesFileOf(prefix), 'utf8'));
    const listeners = isJsonObject(bound) ? bound[kind] : null;
    return Array.isArray(listeners) ? listeners.flatMap(listenerIn) : null;
  } catch {
    return null;
  }
}

export function urlOfListener({ ip, port, ssl }: Pick<BoundListener, 'ip' | 'port' | 'ssl'>): string {
  const host = reachableHost(ip);
  return `${ssl ? 'https' : 'http'}://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function listenerIn(value: JsonValue): readonly BoundListener[] {
  if (!isJsonObject(value)) return [];
  const { ip, port, ssl, proxyProtocol } = value;
  if (typeof ip !== 'string' || isIP(ip) === 0 || typeof port !== 'number') return [];
  return [{ ip, port, ssl: ssl === true, proxyProtocol: proxyProtocol === true }];
}
