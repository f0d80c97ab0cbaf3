/** What has headers: `context.request`, `context.response`, the answer of `context.call`. */
export interface HasHeaders {
  headers(): Readonly<Record<string, readonly string[]>>;
  header(name: string): string | null;
}

/**
 * The headers as a `Headers` of the web platform: a copy, so that changes to it change nothing in the gateway. Several values of
 * a name are appended in their order; `getSetCookie` has each cookie. As in `fetch`, each character of a value is one byte:
 * `utf8FromLatin1` of `plugin-kit/http` gives the text of one that may be UTF-8. A header that `Connection` names is there in
 * `access`, and the backend then receives it, too, as if `request.header` had read it: what was checked is what is sent.
 *
 * @throws TypeError for a name or value that `Headers` refuses. The gateway refuses such requests and responses itself, so only a
 * view of your own can have one.
 *
 * @example
 * const headers = webHeaders(context.request);
 * headers.get('accept-language');
 */
export function webHeaders(view: HasHeaders): Headers {
  const all = view.headers();
  const headers = new Headers();
  // Only then can there be names that the view hides, or forwards because they are read.
  const isSelective = Object.hasOwn(all, 'connection');
  for (const [name, values] of Object.entries(all)) {
    if (isSelective && view.header(name) === null) continue;
    for (const value of values) appendTo(headers, name, value);
  }
  return headers;
}

/** The message never has the value: it may be a secret. */
function appendTo(headers: Headers, name: string, value: string): void {
  try {
    headers.append(name, value);
  } catch {
    throw new TypeError(`Headers refuses the header ${JSON.stringify(name)}`);
  }
}
