/** Whitespace, literals, numbers and strings of RFC 8259, each at a position of the text. */
const space = /[ \t\n\r]*/y;
const scalar =
  /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const name = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"[ \t\n\r]*:/y;

/** Offset of the first JSON syntax error; of the end when the text is incomplete. For texts that did not parse; slow. */
export function jsonFault(text: string): number {
  const open: string[] = [];
  let at = match(space, text, 0);
  for (;;) {
    // A value begins here.
    const bracket = text[at];
    if (bracket === '{' || bracket === '[') {
      const close = bracket === '{' ? '}' : ']';
      at = match(space, text, at + 1);
      if (text[at] !== close) {
        open.push(close);
        if (close === '}') {
          const value = match(name, text, at);
          if (value === at) return faultInName(text, at);
          at = match(space, text, value);
        }
        continue;
      }
      at++;
    } else {
      const end = match(scalar, text, at);
      if (end === at) return faultInString(text, at);
      at = end;
    }
    // A value has ended: its container may end too.
    at = match(space, text, at);
    while (open.length > 0 && text[at] === open.at(-1)) {
      open.pop();
      at = match(space, text, at + 1);
    }
    if (open.length === 0 || text[at] !== ',') return at;
    at = match(space, text, at + 1);
    if (open.at(-1) === '}') {
      const value = match(name, text, at);
      if (value === at) return faultInName(text, at);
      at = match(space, text, value);
    }
  }
}

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

const stringStart = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;

const wholeString = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"[ \t\n\r]*/y;

/** Offset of the error in a member's name, or of its missing colon. */
function faultInName(text: string, at: number): number {
  const end = match(wholeString, text, at);
  return end === at ? faultInString(text, at) : end;
}

/** Offset after the valid part of a string. */
function faultInString(text: string, at: number): number {
  return match(stringStart, text, at);
}
