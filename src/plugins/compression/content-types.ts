import { mediaType } from '../../plugin-kit/http/index.ts';
import { BoundedCache } from '../../plugin-kit/runtime/index.ts';
import type { CompressionConfig } from './schema.ts';

export interface TypeRule {
  readonly eligible: boolean;
  readonly live: boolean;
}

const neither: TypeRule = Object.freeze({ eligible: false, live: false });
const maxKeptLength = 200;

/** How the configuration treats a `Content-Type`. */
export function typeRules(config: CompressionConfig): (contentType: string | null) => TypeRule {
  const eligible = ranges(config.content_types);
  const live = ranges(config.live_content_types);
  const known = new BoundedCache<string, TypeRule>(256);
  return (contentType) => {
    if (contentType === null) return neither;
    const before = known.get(contentType);
    if (before !== undefined) return before;
    const type = mediaType(contentType)?.type;
    const rule = type === undefined ? neither : { eligible: eligible(type), live: live(type) };
    if (contentType.length <= maxKeptLength) known.set(contentType, rule);
    return rule;
  };
}

function ranges(list: readonly string[]): (type: string) => boolean {
  const exact = new Set(list.filter((range) => !range.includes('*')));
  const matchers = list.filter((range) => range.includes('*')).map(matcher);
  return (type) => exact.has(type) || matchers.some((matches) => matches(type));
}

/** `text/*`, `application/*+json`, and with any type before the slash. */
function matcher(range: string): (type: string) => boolean {
  const [main = '', sub = ''] = range.split('/');
  const start = main === '*' ? '' : `${main}/`;
  const end = sub.slice(1);
  return (type) => type.startsWith(start) && type.endsWith(end);
}
