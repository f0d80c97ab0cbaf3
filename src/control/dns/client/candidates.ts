import type { ResolvConf } from '../resolv-conf.ts';

/** The full names for a queried name, in the order in which they are tried (resolv.conf(5), `ndots`). */
export function candidates(name: string, { search, ndots }: Pick<ResolvConf, 'search' | 'ndots'>): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const longer = search.map((suffix) => `${name}.${suffix}`);
  const dots = name.split('.').length - 1;
  return dots >= ndots ? [name, ...longer] : [...longer, name];
}
