import { isIP } from 'node:net';

/** The content of resolv.conf(5). */
export interface ResolvConf {
  readonly servers: readonly string[];
  /** Suffixes that are tried on names with few dots. */
  readonly search: readonly string[];
  /** A name with at least this many dots is first tried unchanged. */
  readonly ndots: number;
  /** Milliseconds for one try. */
  readonly timeout: number;
  /** Rounds over all servers. */
  readonly attempts: number;
  /** Start with another server each time. */
  readonly rotate: boolean;
}

const maxServers = 8;
const maxSuffixes = 32;
/** As in Kong; the C library waits 5 s. */
const defaultTimeout = 2_000;
const defaultAttempts = 2;

/** Reads the file's text; invalid and unknown lines are ignored, as by the C library. */
export function parseResolvConf(text: string): ResolvConf {
  const servers: string[] = [];
  let search: readonly string[] = [];
  const options = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [keyword = '', ...values] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/);
    const first = values[0];
    if (first === undefined) continue;
    if (keyword === 'nameserver' && isIP(first) !== 0) servers.push(first);
    // The last of these lines takes precedence.
    else if (keyword === 'search') search = values;
    else if (keyword === 'domain') search = [first];
    else if (keyword === 'options') for (const option of values) setOption(options, option);
  }
  return {
    servers: servers.slice(0, maxServers),
    search: search
      .map(suffix)
      .filter((name) => name !== '')
      .slice(0, maxSuffixes),
    ndots: numberOption(options.get('ndots'), 1, 0, 15),
    timeout: 1000 * numberOption(options.get('timeout'), defaultTimeout / 1000, 1, 30),
    attempts: numberOption(options.get('attempts'), defaultAttempts, 1, 5),
    rotate: options.has('rotate'),
  };
}

function setOption(options: Map<string, string>, option: string): void {
  const [name = '', value = ''] = option.split(':');
  options.set(name, value);
}

function suffix(text: string): string {
  return text.replace(/^\.+|\.+$/g, '').toLowerCase();
}

function numberOption(text: string | undefined, missing: number, least: number, most: number): number {
  if (text === undefined || !/^\d{1,9}$/.test(text)) return missing;
  return Math.min(most, Math.max(least, Number(text)));
}
