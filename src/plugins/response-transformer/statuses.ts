/** The problem of a well-formed range; null: none. */
export function statusesProblem(text: string): string | null {
  const [first = '', last = first] = text.split('-');
  return Number(first) > Number(last) ? 'a range must begin with the lower status' : null;
}

/** Whether a status matches `200`, `200-299` and the like; an empty list matches all. */
export function statusMatcher(texts: readonly string[]): (status: number) => boolean {
  if (texts.length === 0) return () => true;
  const ranges = texts.map((text) => {
    const [first = '', last = first] = text.split('-');
    return [Number(first), Number(last)] as const;
  });
  return (status) => ranges.some(([first, last]) => status >= first && status <= last);
}
