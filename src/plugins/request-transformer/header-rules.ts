import type { NamedValue } from '../../plugin-kit/http/index.ts';
import {
  hasControl,
  headerText,
  isHost,
  isPluginsHeader,
  namedValues,
  resolved,
  type TransformValues,
  type ValueRule,
} from '../../plugin-kit/templates/index.ts';
import { type AccessContext, type PluginLogger, type Reply, refuse } from '../../plugin-sdk/index.ts';
import type { RequestTransformerConfig } from './schema.ts';

/** Changes the headers of the request; a `Reply` when a value is not valid in a header. */
export type HeaderChange = (context: AccessContext, rendered: readonly string[]) => Reply | undefined;

interface HeaderRule extends ValueRule {
  readonly lower: string;
}

/** Null when there is nothing to change. */
export function headerChange(
  config: RequestTransformerConfig,
  values: TransformValues,
  log: PluginLogger,
): HeaderChange | null {
  const usable = (name: string, isSet: boolean) => isUsable(name, isSet, log);
  const rules = (texts: readonly string[]): readonly HeaderRule[] =>
    values.rules(texts.map((text) => text.trim())).map((rule) => ({ ...rule, lower: rule.name.toLowerCase() }));
  const remove = config.remove.headers.filter((name) => usable(name, false));
  const rename = namedValues(config.rename.headers).filter(
    ({ name, value }) => usable(name, false) && usable(value, true),
  );
  const replace = rules(config.replace.headers).filter(({ lower, name }) => lower === 'host' || usable(name, true));
  const add = rules(config.add.headers).filter(({ name }) => usable(name, true));
  const append = rules(config.append.headers).filter(({ name }) => usable(name, true));
  if (remove.length + rename.length + replace.length + add.length + append.length === 0) return null;
  return (context, rendered) => {
    const { upstream } = context;
    for (const name of remove) upstream.removeHeader(name);
    for (const pair of rename) renameHeader(context, pair);
    for (const { name, lower, value } of replace) {
      if (!isThere(context, lower) && !alwaysThere.has(lower)) continue;
      const text = resolved(value, rendered);
      if (isUnfit(lower, text)) return unfit(name);
      upstream.setHeader(name, headerText(text));
    }
    for (const { name, lower, value } of add) {
      if (isThere(context, lower)) continue;
      const text = resolved(value, rendered);
      if (isUnfit(lower, text)) return unfit(name);
      upstream.setHeader(name, headerText(text));
    }
    for (const { name, lower, value } of append) {
      const text = resolved(value, rendered);
      if (isUnfit(lower, text)) return unfit(name);
      upstream.addHeader(name, headerText(text));
    }
    return undefined;
  };
}

/** The gateway sets these in every request, or processes them last. */
const alwaysThere: ReadonlySet<string> = new Set([
  'host',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-path',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
]);

/** As in Kong, `Host` is for `replace` alone. Framing headers follow from the message. */
function isUsable(name: string, isSet: boolean, log: PluginLogger): boolean {
  const usable = name.toLowerCase() !== 'host' && isPluginsHeader(name);
  if (!usable && isSet) log.warn('a rule is left out: the gateway itself writes this header', { header: name });
  return usable;
}

function isThere({ upstream, request }: AccessContext, lower: string): boolean {
  return upstream.headerValues(lower).length > 0 || (alwaysThere.has(lower) && request.header(lower) !== null);
}

function renameHeader({ upstream }: AccessContext, { name, value }: NamedValue): void {
  const [first, ...more] = upstream.headerValues(name);
  if (first === undefined) return;
  upstream.removeHeader(name);
  upstream.setHeader(value, first);
  for (const one of more) upstream.addHeader(value, one);
}

/** Templates insert values of clients into headers. */
function isUnfit(lower: string, text: string): boolean {
  return hasControl(text) || (lower === 'host' && !isHost(text));
}

function unfit(name: string): Reply {
  return refuse(400, `The value that this request gives for the header ${name} cannot stand in one`);
}
