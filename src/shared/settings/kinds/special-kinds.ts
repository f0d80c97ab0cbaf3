import { isIP, isIPv4 } from 'node:net';
import { availableParallelism } from 'node:os';
import type { SecureVersion } from 'node:tls';
import { SettingsError } from '../settings-error.ts';
import type { Kind } from './kinds.ts';
import { integer, splitList } from './kinds.ts';
import { type LogFormat, type LogFormats, parseLogFormat } from './log-format.ts';
import { allVersions } from './tls-policy.ts';

const maxWorkers = 1024;

/** `auto` is one worker for each core that this process may use. */
export const workers: Kind<number> = {
  label: `\`auto\`, or 1 to ${maxWorkers}`,
  parse: (name, text) => (text === 'auto' ? defaultWorkers() : integer(1, maxWorkers).parse(name, text)),
  show: (value, text) => (text === 'auto' ? text : value),
};

/** Workers share a port through SO_REUSEPORT, which does not balance connections on every system. */
function defaultWorkers(): number {
  return ['linux', 'freebsd', 'aix', 'sunos'].includes(process.platform) ? availableParallelism() : 1;
}

/** IP addresses, CIDR blocks and `unix:`. */
export const addressList: Kind<readonly string[]> = {
  label: 'list of IP addresses and CIDR blocks',
  parse(name, text) {
    const entries = splitList(text);
    const wrong = entries.find((entry) => entry !== 'unix:' && !isAddressBlock(entry));
    if (wrong !== undefined) {
      throw new SettingsError(
        `${name} must be a comma separated list of IPv4 or IPv6 addresses, CIDR blocks or 'unix:', not '${wrong}'`,
      );
    }
    return entries;
  },
  show: (value) => value,
};

function isAddressBlock(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  if (isIP(address) === 0 || address.includes('%') || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^(?:0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= (isIPv4(address) ? 32 : 128);
}

/** URLs of web pages; the value is the list of their origins. */
export const originList: Kind<readonly string[]> = {
  label: 'list of URLs',
  parse: (name, text) =>
    splitList(text).map((entry) => {
      const url = URL.parse(entry);
      if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return url.origin;
      throw new SettingsError(`${name} must be a comma separated list of http and https URLs, not '${entry}'`);
    }),
  show: (_value, text) => splitList(text),
};

/** The path of an URL: `/` or `/a/b`, without a slash at its end. */
export const urlPath: Kind<string> = {
  label: 'path',
  parse(name, text) {
    if (!text.startsWith('/')) throw new SettingsError(`${name} must start with a slash ('/')`);
    if (text === '/') return text;
    if (text.endsWith('/')) throw new SettingsError(`${name} must not end with a slash ('/')`);
    if (text.includes('//')) throw new SettingsError(`${name} must not contain continuous slashes ('/')`);
    if (!/^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/.test(text)) {
      throw new SettingsError(
        `${name} may contain letters, digits, '-', '.', '_' and '~' between its slashes: '${text}'`,
      );
    }
    return text;
  },
  show: (value) => value,
};

/** Host names without a port, in lower case; the first label may be `*`. */
export const hostList: Kind<readonly string[]> = {
  label: 'list of host names',
  parse: (name, text) =>
    splitList(text).map((entry) => {
      if (/^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i.test(entry)) return entry.toLowerCase();
      throw new SettingsError(`${name} must be a comma separated list of host names without ports, not '${entry}'`);
    }),
  show: (value) => value,
};

/** `80:8000, 443:8443`: external port to listening port. The value is keyed by the listening port. */
export const portMaps: Kind<Readonly<Record<number, number>>> = {
  label: 'list of `<external port>:<listening port>`',
  parse(name, text) {
    const maps: Record<number, number> = {};
    for (const entry of splitList(text)) {
      const match = /^(\d{1,5}):(\d{1,5})$/.exec(entry);
      const external = Number(match?.[1]);
      const listening = Number(match?.[2]);
      if (match === null || !isPort(external) || !isPort(listening)) {
        throw new SettingsError(`invalid port mapping (\`${name}\`): ${entry}`);
      }
      maps[listening] = external;
    }
    return maps;
  },
  show: (_value, text) => splitList(text),
};

function isPort(port: number): boolean {
  return port >= 1 && port <= 65535;
}

const headerTokens: Readonly<Record<string, readonly string[]>> = {
  server_tokens: ['server', 'via'],
  latency_tokens: [
    'x-kong-proxy-latency',
    'x-kong-upstream-latency',
    'x-kong-response-latency',
    'x-kong-admin-latency',
  ],
};

/** Names of headers that the gateway may add; the value has lower-case names, with tokens expanded. */
export function headerNames(allowed: readonly string[]): Kind<ReadonlySet<string>> {
  const known = new Set(allowed.map((name) => name.toLowerCase()));
  return {
    label: `\`off\`, or a list of ${allowed.map((name) => `\`${name}\``).join(', ')}`,
    parse(name, text) {
      const entries = splitList(text).map((entry) => entry.toLowerCase());
      if (entries.length === 1 && entries[0] === 'off') return new Set();
      const wrong = entries.find((entry) => !known.has(entry));
      if (wrong !== undefined) {
        throw new SettingsError(`${name} has an invalid value: '${wrong}' (off, ${allowed.join(', ')})`);
      }
      return new Set(entries.flatMap((entry) => headerTokens[entry] ?? [entry]));
    },
    show: (_value, text) => splitList(text),
  };
}

/** A header's name, or `proxy_protocol`. */
export const headerName: Kind<string> = {
  label: 'name of a header, or `proxy_protocol`',
  parse(name, text) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text)) {
      throw new SettingsError(`${name} is not the name of a header: '${text}'`);
    }
    return text;
  },
  show: (value) => value,
};

/** Names, files and packages of plugins: `bundled` means all bundled plugins, `off` none. */
export const pluginNames: Kind<readonly string[]> = {
  label: '`bundled`, `off`, or a list of names, files and npm packages',
  parse(name, text) {
    const entries = splitList(text);
    if (entries.length === 1 && entries[0] === 'off') return [];
    const wrong = entries.find((entry) => entry === 'off' || /[\s\x00-\x1f]/.test(entry));
    if (wrong !== undefined)
      throw new SettingsError(`${name} has an invalid value: '${wrong}' is not the name of a plugin`);
    return entries;
  },
  show: (value) => value,
};

/** `./my-policy=sha512-...`: what the files of a plugin must be. */
export const pluginPins: Kind<ReadonlyMap<string, string>> = {
  label: 'list of `<entry of plugins>=sha512-<base64>`',
  parse(name, text) {
    const pins = new Map<string, string>();
    for (const pin of splitList(text)) {
      const [, entry = '', hash = ''] = /^(.+)=(sha512-[A-Za-z0-9+/]{86}==)$/.exec(pin) ?? [];
      if (entry === '')
        throw new SettingsError(
          `${name} has an invalid value: '${pin}' is not of the form <entry of plugins>=sha512-<base64>`,
        );
      if (pins.has(entry)) throw new SettingsError(`${name} has '${entry}' twice`);
      pins.set(entry, hash);
    }
    return pins;
  },
  show: (_value, text) => splitList(text),
};

export const uuid: Kind<string | null> = {
  label: 'UUID',
  parse(name, text) {
    if (text === '') return null;
    if (!/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)) {
      throw new SettingsError(`${name} must be a valid UUID, not '${text}'`);
    }
    return text.toLowerCase();
  },
  show: (value) => value,
};

/** A token that can be sent in an `Authorization` header. */
export const bearerToken: Kind<string | null> = {
  label: 'text without spaces',
  parse(name, text) {
    if (text === '') return null;
    if (!/^[\x21-\x7e]+$/.test(text)) {
      throw new SettingsError(`${name} must be printable ASCII without spaces, as it travels in a header`);
    }
    return text;
  },
  show: (value) => value,
};

/** Target of an access log, and the name of its format; null: no name. */
export interface AccessLogTarget {
  readonly target: string;
  readonly format: string | null;
}

/** As `logTarget`, optionally followed by the name of a log format, as in nginx. */
export const accessLogTarget: Kind<AccessLogTarget> = {
  label: '`off`, `/dev/stdout`, `/dev/stderr`, or a file (relative to the prefix); the name of a log format may follow',
  parse(name, text) {
    const [target = '', format = null, ...more] = text.trim().split(/\s+/);
    if (more.length > 0) {
      throw new SettingsError(
        `${name} takes a file and the name of a log format, and not '${more.join(' ')}' behind them`,
      );
    }
    return { target: logTarget.parse(name, target), format };
  },
  show: (_value, text) => text,
};

/** nginx's `log_format`; empty is none. */
export function logFormat(formats: LogFormats): Kind<LogFormat | null> {
  return {
    label: "`name '$remote_addr ... $status'`; `escape=json` may follow the name",
    parse: (name, text) => (text.trim() === '' ? null : parseLogFormat(name, text, formats)),
    show: (_value, text) => text,
  };
}

/** Statuses and classes of statuses: `5xx, 429`. The value is an array of 600 elements, 1 for each selected status. */
export const statuses: Kind<Uint8Array> = {
  label: '`off`, or a list of statuses and classes of them (`5xx, 429`)',
  parse(name, text) {
    const meant = new Uint8Array(600);
    const entries = splitList(text);
    if (entries.length === 1 && entries[0] === 'off') return meant;
    for (const entry of entries) {
      const [, digit, status] = /^(?:([1-5])xx|([1-5]\d\d))$/i.exec(entry) ?? [];
      if (digit !== undefined) meant.fill(1, Number(digit) * 100, Number(digit) * 100 + 100);
      else if (status !== undefined) meant[Number(status)] = 1;
      else throw new SettingsError(`${name} has an invalid value: '${entry}' (write 5xx or 429)`);
    }
    return meant;
  },
  show: (_value, text) => splitList(text),
};

/** A file relative to the prefix, `/dev/stdout`, `/dev/stderr` or `off`. The value is still relative. */
export const logTarget: Kind<string> = {
  label: '`off`, `/dev/stdout`, `/dev/stderr`, or a file (relative to the prefix)',
  parse(name, text) {
    if (text === '') throw new SettingsError(`${name} must not be empty; write 'off' to turn it off`);
    if (/^\/dev\/std(?:out|err)\s/.test(text)) {
      throw new SettingsError(`${name} takes no log format after '${text.split(/\s/, 1)[0]}'`);
    }
    return text;
  },
  show: (value) => value,
};

/** `TLSv1.2 TLSv1.3`: consecutive versions. */
export const tlsVersions: Kind<readonly SecureVersion[]> = {
  label: 'list of versions',
  parse(name, text) {
    const words = text.split(/[\s,]+/).filter((word) => word !== '');
    const unknown = words.find((word) => !allVersions.some((version) => version === word));
    if (unknown !== undefined) {
      throw new SettingsError(`${name} has an invalid value: '${unknown}' (${allVersions.join(', ')})`);
    }
    const places = allVersions.map((version, at) => (words.includes(version) ? at : -1)).filter((at) => at >= 0);
    if (places.length === 0) throw new SettingsError(`${name} must not be empty`);
    if ((places.at(-1) ?? 0) - (places[0] ?? 0) !== places.length - 1) {
      throw new SettingsError(`${name} must name versions without a gap, not '${text}'`);
    }
    return places.map((at) => allVersions[at] as SecureVersion);
  },
  show: (_value, text) => text,
};

/** Kong's names of instrumentations. */
const instrumentationNames = [
  'request',
  'db_query',
  'dns_query',
  'router',
  'http_client',
  'balancer',
  'plugin_rewrite',
  'plugin_access',
  'plugin_header_filter',
] as const;

export const instrumentations: Kind<ReadonlySet<string>> = {
  label: `\`all\`, \`off\`, or a list of ${instrumentationNames.map((name) => `\`${name}\``).join(', ')}`,
  parse(name, text) {
    const entries = splitList(text);
    if (entries.length === 1 && entries[0] === 'off') return new Set();
    if (entries.length === 1 && entries[0] === 'all') return new Set(instrumentationNames);
    const wrong = entries.find((entry) => !(instrumentationNames as readonly string[]).includes(entry));
    if (wrong !== undefined) {
      throw new SettingsError(
        `${name} has an invalid value: '${wrong}' (all, off, ${instrumentationNames.join(', ')})`,
      );
    }
    return new Set(entries);
  },
  show: (_value, text) => splitList(text),
};

/** From 0 to 1. */
export const fraction: Kind<number> = {
  label: 'number from 0 to 1',
  parse(name, text) {
    const value = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= 0 && value <= 1)) throw new SettingsError(`${name} must be a number from 0 to 1, not '${text}'`);
    return value;
  },
  show: (value) => value,
};
