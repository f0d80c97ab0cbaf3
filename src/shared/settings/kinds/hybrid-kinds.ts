import { isIP } from 'node:net';
import { SettingsError } from '../settings-error.ts';
import { type Kind, splitList } from './kinds.ts';

const hostName = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9])?)*$/i;

/** `host:port`, separated by commas. IPv6 addresses are in brackets. */
export const hostPorts: Kind<readonly string[]> = {
  label: 'list of `host:port`',
  parse(name, text) {
    const entries = splitList(text);
    if (entries.length === 0) throw new SettingsError(`${name} must not be empty`);
    for (const entry of entries) {
      const [, bracketed, host = bracketed, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(entry) ?? [];
      const known = bracketed === undefined ? hostName.test(host ?? '') : isIP(bracketed) === 6;
      if (!known || Number(port) < 1 || Number(port) > 65_535) {
        throw new SettingsError(`${name} must be a comma separated list of host:port, not '${entry}'`);
      }
    }
    if (new Set(entries).size < entries.length) throw new SettingsError(`${name} names an address twice`);
    return entries;
  },
  show: (_value, text) => text,
};

const labelShape = /^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$/i;
/** Kong reserves them. */
const reservedLabel = /^(?:kong|konnect|insomnia|mesh|kic|_)/i;

/** `name:value`, separated by commas; both have 1 to 63 letters, digits, `.`, `_` and `-`. */
export const nodeLabels: Kind<Readonly<Record<string, string>>> = {
  label: 'list of `name:value`',
  parse(name, text) {
    const labels = new Map<string, string>();
    for (const entry of splitList(text)) {
      const [label = '', value = '', ...rest] = entry.split(':');
      if (rest.length > 0 || !labelShape.test(label) || !labelShape.test(value)) {
        throw new SettingsError(
          `${name} has an invalid label '${entry}': write name:value, each 1 to 63 letters, digits, '.', '_' or '-'`,
        );
      }
      if (reservedLabel.test(label))
        throw new SettingsError(`${name} has an invalid label '${entry}': the name is reserved`);
      if (labels.has(label)) throw new SettingsError(`${name} names '${label}' twice`);
      labels.set(label, value);
    }
    return Object.fromEntries(labels);
  },
  show: (_value, text) => text,
};
