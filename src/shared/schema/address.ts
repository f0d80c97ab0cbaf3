import { isIPv4, isIPv6 } from 'node:net';

export interface Address {
  readonly kind: 'name' | 'ipv4' | 'ipv6';
  /** IPv6 without brackets. */
  readonly host: string;
  readonly port: number | null;
}

export type ParsedAddress =
  | { readonly ok: true; readonly address: Address }
  | { readonly ok: false; readonly problem: string };

/** Maximum characters of a host name with a trailing dot and a port. */
const MAX_LENGTH = 260;
const NAME = /^[A-Za-z0-9._-]+$/;

/** Parses `name[:port]`, `1.2.3.4[:port]`, `::1` or `[::1][:port]`. */
export function parseAddress(text: string): ParsedAddress {
  if (text.length > MAX_LENGTH) return refused(`invalid hostname: ${text}`);
  if (text.startsWith('[') || text.split(':').length > 2) return parseIpv6(text);
  const [host = '', portText] = text.split(':');
  const port = portText === undefined ? null : parsePort(portText);
  const isNumeric = /^[0-9.]+$/.test(host);
  if (isNumeric && !isIPv4(host)) return refused(`invalid ipv4 address: ${text}`);
  if (!isNumeric && !isHostname(host)) return refused(`invalid hostname: ${text}`);
  if (port === 'invalid') return refused('invalid port number');
  return { ok: true, address: { kind: isNumeric ? 'ipv4' : 'name', host, port } };
}

/** Letters, digits, `-`, `_`; no label is empty or ends with a hyphen; one final dot is allowed. */
export function isHostname(text: string): boolean {
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  if (!NAME.test(name) || name.length > 253) return false;
  return name.split('.').every((label) => label !== '' && !label.endsWith('-'));
}

/** `host:port`, IPv6 in full and in brackets: the form in which targets are stored. */
export function formatAddress({ kind, host }: Address, port: number): string {
  return kind === 'ipv6' ? `[${expandIpv6(host)}]:${port}` : `${host}:${port}`;
}

/** All eight groups with four digits each, lower case. */
export function expandIpv6(text: string): string {
  const withoutIpv4 = text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_match, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((group) => group.toString(16)).join(':'),
  );
  const [head = '', tail] = withoutIpv4.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].map((group) => group.padStart(4, '0').toLowerCase()).join(':');
}

function parseIpv6(text: string): ParsedAddress {
  const match = /^\[([^\]]*)\](?::(.*))?$/.exec(text);
  const host = match === null ? text : (match[1] ?? '');
  if (!isIPv6(host) || host.includes('%')) return refused(`invalid ipv6 address: ${text}`);
  const port = match?.[2] === undefined ? null : parsePort(match[2]);
  if (port === 'invalid') return refused('invalid port number');
  return { ok: true, address: { kind: 'ipv6', host, port } };
}

function parsePort(text: string): number | 'invalid' {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return port <= 65535 ? port : 'invalid';
}

function refused(problem: string): ParsedAddress {
  return { ok: false, problem };
}
