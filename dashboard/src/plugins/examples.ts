/** A request of a README that creates an instance of a plugin. */
export interface PluginExample {
  /** What the README says before it. */
  readonly title: string;
  /** Texts, as `curl -d` sends them, or values. */
  readonly config: Readonly<Record<string, unknown>>;
  /** False: some values are for the reader to enter. */
  readonly complete: boolean;
}

/** The instances of the plugin that its README creates with curl, each configuration once. */
export function examplesOf(plugin: string, readme: string): readonly PluginExample[] {
  const examples = new Map<string, PluginExample>();
  const blocks = readme.matchAll(/((?:[^\n]+\n)*)\n*```sh\n([\s\S]*?)\n```/g);
  for (const [, before = '', code = ''] of blocks) {
    for (const command of commandsOf(code)) {
      const body = bodyOf(command);
      if (body === null || body['name'] !== plugin) continue;
      const given = isObject(body['config']) ? body['config'] : {};
      const config = withoutPlaceholders(given) as Body;
      const key = JSON.stringify(config);
      if (!examples.has(key)) {
        const complete = JSON.stringify(given) === key;
        examples.set(key, { title: titleOf(before, config), config, complete });
      }
    }
  }
  return [...examples.values()];
}

/** The words of each command; a comment ends at its line. */
function commandsOf(code: string): readonly (readonly string[])[] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | null = null;
  function endWord(): void {
    if (word !== null) words.push(word);
    word = null;
  }
  function endCommand(): void {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  }
  for (let at = 0; at < code.length; at++) {
    const character = code.charAt(at);
    if (character === "'" || character === '"') {
      const end = code.indexOf(character, at + 1);
      if (end < 0) return commands;
      word = (word ?? '') + code.slice(at + 1, end);
      at = end;
    } else if (character === '\\') {
      at++;
      if (code.charAt(at) !== '\n') word = (word ?? '') + code.charAt(at);
    } else if (character === '#' && word === null) {
      const end = code.indexOf('\n', at);
      at = end < 0 ? code.length : end - 1;
    } else if (character === '\n' || character === '|' || character === ';') endCommand();
    else if (character === ' ') endWord();
    else word = (word ?? '') + character;
  }
  endCommand();
  return commands;
}

type Body = Readonly<Record<string, unknown>>;

/** Null: it is no request that creates an instance. */
function bodyOf(words: readonly string[]): Body | null {
  if (words[0] !== 'curl' || !words.some((word) => /\/plugins(?:\/[0-9a-f-]{36})?$/.test(word))) return null;
  let body: Body = {};
  for (let at = 1; at < words.length; at++) {
    const [option, value = ''] = [words[at] ?? '', words[at + 1] ?? ''];
    if (option === '--json') return parsed(value);
    if (!['-d', '--data', '--data-urlencode', '-F', '--form'].includes(option)) continue;
    if (value.startsWith('{')) return parsed(value);
    const equals = value.indexOf('=');
    // A file of the reader, without which the example is none.
    if (equals < 0 || value.charAt(equals + 1) === '@') return null;
    body = withField(body, value.slice(0, equals), value.slice(equals + 1));
    at++;
  }
  return body;
}

function parsed(text: string): Body | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** `config.methods[]=GET`, `config.requests[1].name=a`: as the Admin API reads forms, which counts from 1. */
function withField(body: Body, name: string, text: string): Body {
  const path = [...name.matchAll(/([^.[\]]+)|\[(\d*)\]/g)].map(([, key, index]) => key ?? Number(index || 0) - 1);
  const changed = setPart(body, path, text);
  return isObject(changed) ? changed : body;
}

/** A position of -1 is the end of the list. */
function setPart(before: unknown, path: readonly (string | number)[], text: string): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return text;
  if (typeof key === 'string') {
    const fields = isObject(before) ? before : {};
    return { ...fields, [key]: setPart(fields[key], rest, text) };
  }
  const items: readonly unknown[] = Array.isArray(before) ? before : [];
  const at = key < 0 ? items.length : Math.min(key, items.length);
  const item = setPart(items[at], rest, text);
  return at === items.length ? [...items, item] : items.with(at, item);
}

/** Without what the reader has to enter: `<id>`, `$ID` and `...`. */
function withoutPlaceholders(value: unknown): unknown {
  if (typeof value === 'string') return /^(?:<[^<>]*>|\$[A-Za-z_]+|.*\.\.\.)$/.test(value) ? undefined : value;
  if (Array.isArray(value)) return value.map(withoutPlaceholders).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([name, item]) => [name, withoutPlaceholders(item)] as const);
  return Object.fromEntries(fields.filter(([, item]) => item !== undefined));
}

/** The sentence that leads to the example: `To limit by a header:`. Without one, the fields are named. */
function titleOf(before: string, config: Body): string {
  const paragraph = before.trim().replaceAll('\n', ' ').replaceAll('`', '');
  const sentence = paragraph.split(/(?<=[.!?])\s+/).at(-1) ?? '';
  const isTitle = /^[A-Z].* .*:$/.test(sentence) && sentence.length <= 120;
  if (isTitle) return sentence.slice(0, -1);
  const fields = Object.keys(config);
  return fields.length === 0 ? 'With its defaults' : `With ${fields.join(', ')}`;
}

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
