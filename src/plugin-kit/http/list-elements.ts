const comma = 0x2c;
const quote = 0x22;
const backslash = 0x5c;
const less = 0x3c;
const greater = 0x3e;

/**
 * The elements of a list in a header field (RFC 9110 5.6.1): trimmed, without empty ones. Commas within quotation marks or within
 * the angle brackets of a `Link` do not separate. Linear time.
 */
export function listElements(field: string): readonly string[] {
  const elements: string[] = [];
  let start = 0;
  /** The character that ends what the text is within; 0: nothing. */
  let within = 0;
  for (let at = 0; at < field.length; at++) {
    const char = field.charCodeAt(at);
    if (within !== 0) {
      if (char === backslash && within === quote) at++;
      else if (char === within) within = 0;
    } else if (char === quote) within = quote;
    else if (char === less) within = greater;
    else if (char === comma) {
      elements.push(field.slice(start, at).trim());
      start = at + 1;
    }
  }
  elements.push(field.slice(start).trim());
  return elements.filter((element) => element !== '');
}
