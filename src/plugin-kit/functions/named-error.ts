const plainErrors: ReadonlySet<unknown> = new Set([
  Error,
  TypeError,
  RangeError,
  ReferenceError,
  SyntaxError,
  URIError,
]);

/** The error with the function's name and line in its message. Errors that the gateway answers in a way of their own stay. */
export function namedError(name: string, error: unknown): unknown {
  if (error instanceof Error && !plainErrors.has(error.constructor)) return error;
  const { message, stack = '' } = error instanceof Error ? error : new Error(`threw ${String(error)}`);
  if (message.startsWith(name)) return error;
  const at = stack.indexOf(`${name}:`);
  const line = at < 0 ? null : Number.parseInt(stack.slice(at + name.length + 1), 10);
  const place = line === null || Number.isNaN(line) ? name : `${name}, line ${line}`;
  const kind = error instanceof Error && error.name !== 'Error' ? `${error.name}: ` : '';
  const raised = new Error(`${place}: ${kind}${message}`);
  raised.stack = `Error: ${raised.message}\n${framesOf(stack)}`;
  return raised;
}

function framesOf(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n');
}
