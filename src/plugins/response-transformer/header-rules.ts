import type { NamedValue } from '../../plugin-kit/http/index.ts';
import type { TransformValues } from '../../plugin-kit/templates/index.ts';
import { hasControl, headerText, isPluginsHeader, namedValues, resolved } from '../../plugin-kit/templates/index.ts';
import type { HeaderFilterContext, PluginLogger, ResponseHeadEdit } from '../../plugin-sdk/index.ts';
import type { ResponseTransformerConfig } from './schema.ts';

/** Null when there is nothing to change. */
export function headerChange(
  config: ResponseTransformerConfig,
  values: TransformValues,
  log: PluginLogger,
): ((context: HeaderFilterContext) => void) | null {
  const usable = (name: string) => isUsable(name, log);
  const remove = config.remove.headers.map((name) => name.trim()).filter(usable);
  const rename = namedValues(config.rename.headers).filter(({ name, value }) => usable(name) && usable(value));
  const rules = (texts: readonly string[]) =>
    values.rules(texts.map((text) => text.trim())).filter(({ name }) => usable(name));
  const replace = rules(config.replace.headers);
  const add = rules(config.add.headers);
  const append = rules(config.append.headers);
  if (remove.length + rename.length + replace.length + add.length + append.length === 0) return null;
  return (context) => {
    const { response } = context;
    const rendered = values.render(context);
    for (const name of remove) response.removeHeader(name);
    for (const pair of rename) renameHeader(response, pair);
    for (const { name, value } of replace) {
      if (response.header(name) !== null) set(response, name, resolved(value, rendered));
    }
    for (const { name, value } of add) {
      if (response.header(name) === null) set(response, name, resolved(value, rendered));
    }
    for (const { name, value } of append) {
      const text = resolved(value, rendered);
      if (!hasControl(text)) response.addHeader(name, headerText(text));
    }
  };
}

function isUsable(name: string, log: PluginLogger): boolean {
  const usable = isPluginsHeader(name);
  if (!usable) log.warn('a rule is left out: the gateway itself writes this header, or it is none', { header: name });
  return usable;
}

/** Templates insert values of clients: values that are not valid in a header are omitted. */
function set(response: ResponseHeadEdit, name: string, text: string): void {
  if (!hasControl(text)) response.setHeader(name, headerText(text));
}

function renameHeader(response: ResponseHeadEdit, { name, value }: NamedValue): void {
  const [first, ...more] = response.headerValues(name);
  if (first === undefined) return;
  response.removeHeader(name);
  response.setHeader(value, first);
  for (const one of more) response.addHeader(value, one);
}
