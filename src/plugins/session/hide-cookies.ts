import type { AccessContext } from '../../plugin-sdk/index.ts';

/** Takes the gateway's own cookies, with their parts, out of the request for the backend; others stay as they are. */
export function hideCookies(context: AccessContext, names: readonly string[]): void {
  const lines = context.request.headerValues('cookie');
  if (lines.length === 0) return;
  const pairs = lines.flatMap((line) => line.split(';')).map((pair) => pair.trim());
  const kept = pairs.filter((pair) => pair !== '' && !names.some((name) => isPart(pair, name)));
  if (kept.length === pairs.length) return;
  if (kept.length === 0) context.upstream.removeHeader('Cookie');
  else context.upstream.setHeader('Cookie', kept.join('; '));
}

/** True for `name=`, and for `name_2=` to `name_9=`. */
function isPart(pair: string, name: string): boolean {
  if (!pair.startsWith(name)) return false;
  const rest = pair.slice(name.length);
  return /^(?:_[2-9])?\s*=/.test(rest);
}
