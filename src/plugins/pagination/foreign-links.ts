const element = /<[^<>]*>(?:[^",<]|"(?:[^"\\]|\\.)*")*/g;
const paging =
  /;\s*rel\s*=\s*(?:"[^"]*\b(?:next|prev|previous|first|last)\b[^"]*"|(?:next|prev|previous|first|last)\b)/i;

/** What a `Link` of the backend says beside its own pages, which are not the client's. */
export function withoutPagingLinks(values: readonly string[]): readonly string[] {
  return values
    .flatMap((value) => value.match(element) ?? [])
    .map((link) => link.trim())
    .filter((link) => !paging.test(link));
}
