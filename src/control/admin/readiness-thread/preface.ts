import type { Inspection } from '../../../shared/proxy-protocol/first-bytes.ts';

/** Both addresses of a client's connection, sent to the control plane before its first byte. */
export interface ConnectionEnds {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
}

export const maxPrefaceLength = 256;

export function writePreface({ remoteAddress, remotePort, localAddress, localPort }: ConnectionEnds): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}\n`;
}

/** Reads what `writePreface` wrote. */
export function inspectPreface(bytes: Buffer): Inspection<ConnectionEnds> {
  const end = bytes.indexOf(0x0a);
  if (end < 0) return { kind: 'more' };
  const parts = bytes.toString('latin1', 0, end).split(' ');
  const [remoteAddress, remotePort, localAddress, localPort] = parts;
  if (parts.length !== 4 || remoteAddress === undefined || localAddress === undefined) {
    return { kind: 'bad', reason: 'no preface' };
  }
  const value = { remoteAddress, remotePort: Number(remotePort), localAddress, localPort: Number(localPort) };
  return { kind: 'done', consumed: end + 1, value };
}
