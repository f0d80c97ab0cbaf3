const longest = 8;

/** The steps of a dotted name; `\.` is a dot within one: `request.headers.x\.y`. */
export function fieldPath(text: string): readonly string[] {
  const steps: string[] = [];
  let step = '';
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    if (char === '\\' && text[at + 1] === '.') step += text[++at];
    else if (char === '.') {
      steps.push(step);
      step = '';
    } else step += char;
  }
  steps.push(step);
  return steps;
}

/** The problem of a field name; null: none. */
export function fieldPathProblem(text: string): string | null {
  const steps = fieldPath(text);
  if (steps.includes('')) return 'a name must not begin or end with a dot, nor have two in a row';
  if (steps.includes('__proto__')) return "'__proto__' cannot be the name of a field";
  return steps.length > longest ? `a name leads through ${longest} objects at most` : null;
}
