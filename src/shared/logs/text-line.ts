/** Formats a line of the JSON log for people: `03:04:05.678 warn   message  key=value`, a stack below it. */
export function formatTextLine(json: string): string {
  const { level, time, msg, err, ...fields } = parse(json);
  const clock = typeof time === 'string' ? time.slice(11, 23) : '';
  const pairs = Object.entries(fields).map(([name, value]) => ` ${escapeControls(name)}=${formatValue(value)}`);
  const head = `${clock} ${String(level).padEnd(6)} ${escapeControls(String(msg ?? ''))}${pairs.length === 0 ? '' : ` ${pairs.join('')}`}`;
  return head + formatError(err);
}

function parse(json: string): Record<string, unknown> {
  const value: unknown = JSON.parse(json);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function formatValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\w.:/@+,-]+$/.test(text) ? text : escapeControls(JSON.stringify(value));
}

function formatError(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const stack = 'stack' in error && typeof error.stack === 'string' ? error.stack : JSON.stringify(error);
  return stack
    .split('\n')
    .map((line) => `\n    ${escapeControls(line)}`)
    .join('');
}

/** Control characters could forge lines or drive the terminal. */
function escapeControls(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
