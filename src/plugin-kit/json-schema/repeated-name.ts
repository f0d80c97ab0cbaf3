const token = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;

/** Offset of the first repeated name in an object. `text` is JSON. Slow: for texts that are known to have one. */
export function repeatedName(text: string): number {
  const open: (Set<string> | null)[] = [];
  token.lastIndex = 0;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    const [word] = found;
    if (word === '{') open.push(new Set());
    else if (word === '[') open.push(null);
    else if (word === '}' || word === ']') open.pop();
    else if (followedByColon(text, token.lastIndex)) {
      const names = open.at(-1);
      const name: string = JSON.parse(word);
      if (names?.has(name) === true) return found.index;
      names?.add(name);
    }
  }
  return text.length;
}

function followedByColon(text: string, offset: number): boolean {
  let at = offset;
  while (' \t\r\n'.includes(text.charAt(at)) && at < text.length) at++;
  return text.charAt(at) === ':';
}
