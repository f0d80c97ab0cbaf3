import { headerText } from '../../plugin-kit/templates/index.ts';
import type { HeaderFilterContext, PluginPhases, ResponseHeadEdit } from '../../plugin-sdk/index.ts';
import { headerNames } from '../../plugin-sdk/index.ts';
import { presets } from './presets.ts';
import type { ResponseHeadersConfig } from './schema.ts';

const hstsName = 'Strict-Transport-Security';

export function setResponseHeaders(config: ResponseHeadersConfig): PluginPhases {
  const { remove } = config;
  const plain = setter(wanted(config), config.when);
  const secure = setter(withHsts(config), config.when);
  return {
    headerFilter({ request, response }: HeaderFilterContext): void {
      // Settings control the gateway's own headers.
      if (response.source === 'upstream') for (const name of remove) response.removeHeader(name);
      (request.scheme === 'https' ? secure : plain)(response);
    },
  };
}

/** Preset, then omitted headers, then configured headers. Names are not case-sensitive. */
function wanted({ preset, omit, headers }: ResponseHeadersConfig): ReadonlyMap<string, readonly [string, string]> {
  const all = new Map(presets[preset].map(([name, value]) => [name.toLowerCase(), [name, value] as const]));
  for (const name of omit) all.delete(name.toLowerCase());
  for (const [name, value] of Object.entries(headers)) all.set(name.toLowerCase(), [name, value]);
  // Must not be sent over plain HTTP (RFC 6797 7.2).
  all.delete(hstsName.toLowerCase());
  return all;
}

function withHsts(config: ResponseHeadersConfig): ReadonlyMap<string, readonly [string, string]> {
  const own = Object.entries(config.headers).find(([name]) => name.toLowerCase() === hstsName.toLowerCase());
  const omitted = config.omit.some((name) => name.toLowerCase() === hstsName.toLowerCase());
  const value = own?.[1] ?? (config.hsts.enabled && !omitted ? hsts(config.hsts) : null);
  const all = new Map(wanted(config));
  if (value !== null) all.set(hstsName.toLowerCase(), [hstsName, value]);
  return all;
}

function hsts({ max_age: age, include_subdomains: subdomains, preload }: ResponseHeadersConfig['hsts']): string {
  return `max-age=${age}${subdomains ? '; includeSubDomains' : ''}${preload ? '; preload' : ''}`;
}

function setter(
  headers: ReadonlyMap<string, readonly [string, string]>,
  when: ResponseHeadersConfig['when'],
): (response: ResponseHeadEdit) => void {
  const list = [...headers].map(([lower, [name, value]]) => ({ lower, name, value: headerText(value) }));
  if (when === 'absent') {
    return (response) => {
      for (const { lower, name, value } of list) if (response.header(lower) === null) response.setHeader(name, value);
    };
  }
  const names = headerNames(list.map(({ name }) => name));
  const values = list.map(({ value }) => value);
  return (response) => response.setHeaders(names, values);
}
