const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const KEYWORDS = new Set(
  'and break do else elseif end false for function goto if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
);

/**
 * Prints a value as Kong's messages do: `{id="x",service=null}`, keys sorted. With `indent` it spans several lines
 * (`{\n  id = "x"\n}`), as in schema violations. Null elements of a list are skipped, so later elements get their
 * 1-based position: `{[2]="wrong"}`.
 */
export function printTable(value: unknown, indent = ''): string {
  return print(value, indent, '', indent);
}

function print(value: unknown, unit: string, outer: string, inner: string): string {
  if (typeof value === 'string') return quote(value);
  if (value === null || value === undefined) return 'null';
  if (typeof value !== 'object') return String(value);
  const lines = entriesOf(value).map(
    ([key, item]) => inner + key + assign(key, unit) + print(item, unit, inner, inner + unit),
  );
  const separator = unit === '' ? ',' : ',\n';
  const line = unit === '' ? '' : '\n';
  if (lines.length === 0) return unit === '' ? '{}' : `{\n${outer}}`;
  return `{${line}${lines.join(separator)}${line}${outer}}`;
}

function assign(key: string, unit: string): string {
  if (key === '') return '';
  return unit === '' ? '=' : ' = ';
}

function entriesOf(value: object): readonly (readonly [string, unknown])[] {
  if (!Array.isArray(value)) {
    return Object.keys(value)
      .sort(byBytes)
      .map((key) => [printKey(key), (value as Record<string, unknown>)[key]]);
  }
  let dense = true;
  return value.flatMap((item: unknown, index) => {
    if (item === null || item === undefined) {
      dense = false;
      return [];
    }
    return [[dense ? '' : `[${index + 1}]`, item] as const];
  });
}

function printKey(key: string): string {
  return IDENTIFIER.test(key) && !KEYWORDS.has(key) ? key : `[${quote(key)}]`;
}

/** A Lua text in double quotes; one with line breaks is in long brackets. */
function quote(text: string): string {
  if (text.includes('\n') && !text.includes('\r')) {
    let level = '';
    while (text.includes(`]${level}]`)) level += '=';
    return `[${level}[${text.startsWith('\n') ? '\n' : ''}${text}]${level}]`;
  }
  return `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\r', '\\r').replaceAll('\n', '\\\n').replaceAll('\0', '\\000')}"`;
}

export function byBytes(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
