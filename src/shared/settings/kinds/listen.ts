import { isIP, isIPv6 } from 'node:net';
import { suggest } from '../../util/suggest.ts';
import type { ListenAddress } from '../settings.ts';
import { SettingsError } from '../settings-error.ts';
import type { Kind } from './kinds.ts';
import { splitList } from './kinds.ts';

/** One entry of a `*_listen` setting: the options of the listener, and its form in `configuration.*_listeners`. */
export interface ParsedListen {
  readonly address: ListenAddress;
  readonly shown: Readonly<Record<string, unknown>>;
  readonly text: string;
}

interface Flag {
  readonly shape: RegExp;
  /** What Kong shows when the flag is absent. */
  readonly label: string;
  /** Readable form, where the label is a Lua pattern. */
  readonly written?: string;
}

const socketFlags: readonly Flag[] = [
  { shape: /^bind$/, label: 'bind' },
  { shape: /^reuseport$/, label: 'reuseport' },
  { shape: /^backlog=\d+$/, label: 'backlog=%d+', written: 'backlog=<number>' },
  { shape: /^ipv6only=on$/, label: 'ipv6only=on' },
  { shape: /^ipv6only=off$/, label: 'ipv6only=off' },
  { shape: /^so_keepalive=on$/, label: 'so_keepalive=on' },
  { shape: /^so_keepalive=off$/, label: 'so_keepalive=off' },
  {
    shape: /^so_keepalive=\w*:\w*:\d*$/,
    label: 'so_keepalive=%w*:%w*:%d*',
    written: 'so_keepalive=<idle>:<interval>:<count>',
  },
];

/** Kong's flags of http listeners, in the order in which it prints them. */
const httpFlags: readonly Flag[] = [
  { shape: /^ssl$/, label: 'ssl' },
  { shape: /^http2$/, label: 'http2' },
  { shape: /^proxy_protocol$/, label: 'proxy_protocol' },
  { shape: /^deferred$/, label: 'deferred' },
  ...socketFlags,
];

const streamFlags: readonly Flag[] = [
  { shape: /^udp$/, label: 'udp' },
  { shape: /^ssl$/, label: 'ssl' },
  { shape: /^proxy_protocol$/, label: 'proxy_protocol' },
  ...socketFlags,
];

const defaultBacklog = 511;
const maxBacklog = 0x7fffffff;

/** The value of `proxy_listen`, `admin_listen` and `status_listen`. `off` is an empty list. */
export const listen: Kind<readonly ParsedListen[]> = listenKind(httpFlags);

/** The value of `stream_listen`. */
export const streamListen: Kind<readonly ParsedListen[]> = listenKind(streamFlags);

function listenKind(flags: readonly Flag[]): Kind<readonly ParsedListen[]> {
  return {
    label: '`off`, or a list of `<ip>:<port> [flags]`',
    parse: (name, text) => parseListen(name, text, flags),
    show: (value) => (value.length === 0 ? ['off'] : value.map((entry) => entry.text)),
  };
}

function parseListen(name: string, text: string, flags: readonly Flag[]): readonly ParsedListen[] {
  const entries = splitList(text);
  const off = entries[0] === 'off';
  if (entries.length === 0) throw new SettingsError(`${name} is empty: write <ip>:<port>, or off`);
  if (off && entries.length > 1) throw new SettingsError(`${name}: off cannot be combined with addresses`);
  return off ? [] : entries.map((entry) => parseEntry(name, entry, flags));
}

function addressError(name: string, place: string): SettingsError {
  const port = /:(\d+)$/.exec(place)?.[1];
  if (port !== undefined && Number(port) > 65_535) {
    return new SettingsError(`${name}: the port of '${place}' must be between 0 and 65535`);
  }
  const example = /^\d+$/.test(place) && Number(place) <= 65_535 ? place : '8000';
  return new SettingsError(
    `${name}: '${place}' is not <ip>:<port>; write 127.0.0.1:${example}, 0.0.0.0:${example} or [::]:${example}`,
  );
}

function flagError(name: string, word: string, flags: readonly Flag[]): SettingsError {
  const known = flags.map(({ label, written }) => written ?? label);
  const guess = suggest(word, known);
  const hint = guess === null ? `flags are ${known.join(', ')}` : `did you mean ${guess}?`;
  return new SettingsError(`${name}: unknown flag '${word}' (${hint})`);
}

function parseEntry(name: string, text: string, flags: readonly Flag[]): ParsedListen {
  const [place = '', ...words] = text.split(/\s+/);
  const address = splitAddress(place);
  if (address === null) throw addressError(name, place);
  const found = flags.map((flag) => words.find((word) => flag.shape.test(word)));
  const known = new Set(found.filter((word) => word !== undefined));
  const unknown = words.find((word) => !known.has(word));
  if (unknown !== undefined) throw flagError(name, unknown, flags);

  const has = (word: string): boolean => known.has(word);
  const shownIp = isIPv6(address.ip) ? `[${address.ip}]` : address.ip;
  const shownFlags = found.filter((word) => word !== undefined && word !== 'http2');
  const listener = [`${shownIp}:${address.port}`, ...shownFlags].join(' ');
  return {
    address: {
      ...address,
      ssl: has('ssl'),
      udp: has('udp'),
      http2: has('http2'),
      proxyProtocol: has('proxy_protocol'),
      reuseport: has('reuseport'),
      deferred: has('deferred'),
      bind: has('bind'),
      backlog: backlogOf(found),
      ipv6only: has('ipv6only=on'),
      listener,
    },
    shown: {
      ip: shownIp,
      port: address.port,
      listener,
      ...Object.fromEntries(flags.map((flag, index) => [found[index] ?? flag.label, found[index] !== undefined])),
    },
    text,
  };
}

function splitAddress(place: string): { ip: string; port: number } | null {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(place);
  if (match === null) return null;
  const [, v6, other, digits] = match;
  const port = Number(digits);
  if (port > 65535) return null;
  if (v6 !== undefined) return isIPv6(v6) ? { ip: v6, port } : null;
  if (other === undefined) return null;
  // Four numbers that are not an IPv4 address are a typing error, never a host name.
  if (/^[\d.]+$/.test(other) && isIP(other) === 0) return null;
  return { ip: other, port };
}

function backlogOf(found: readonly (string | undefined)[]): number {
  const word = found.find((flag) => flag?.startsWith('backlog='));
  return word === undefined ? defaultBacklog : Math.min(Number(word.slice('backlog='.length)), maxBacklog);
}
