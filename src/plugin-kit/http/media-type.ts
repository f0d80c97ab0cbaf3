/** A `Content-Type` (RFC 9110 8.3). */
export interface MediaType {
  /** `application/json`: lower case, without parameters. */
  readonly type: string;
  /** `application/json` or any `+json` (RFC 6839). */
  readonly isJson: boolean;
  /** `application/xml`, `text/xml` or any `+xml` (RFC 7303). */
  readonly isXml: boolean;
  /** `application/x-www-form-urlencoded`. */
  readonly isForm: boolean;
  /** Lower case; null if absent. */
  readonly charset: string | null;
  /** Value of a parameter (name in any case), without quotes; null if absent. */
  parameter(name: string): string | null;
}

const shape = /^[ \t]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+\/[!#$%&'*+\-.^_`|~0-9A-Za-z]+)[ \t]*(;.*)?$/;

/**
 * Parses a `Content-Type`; null: it is absent, or not exactly one media type.
 *
 * @example
 * if (mediaType(response.header('content-type'))?.isJson !== true) return undefined;
 */
export function mediaType(contentType: string | null): MediaType | null {
  const found = contentType === null ? null : shape.exec(contentType);
  if (found === null) return null;
  const type = (found[1] as string).toLowerCase();
  const rest = found[2] ?? '';
  return {
    type,
    isJson: type === 'application/json' || type.endsWith('+json'),
    isXml: type === 'application/xml' || type === 'text/xml' || type.endsWith('+xml'),
    isForm: type === 'application/x-www-form-urlencoded',
    charset: rest === '' ? null : (parameterOf(rest, 'charset')?.toLowerCase() ?? null),
    parameter: (name) => parameterOf(rest, name),
  };
}

const parameters = /;[ \t]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^;"\s]*))/g;

function parameterOf(text: string, name: string): string | null {
  const wanted = name.toLowerCase();
  for (const [, found = '', quoted, plain] of text.matchAll(parameters)) {
    if (found.toLowerCase() === wanted) return quoted === undefined ? (plain ?? '') : quoted.replace(/\\(.)/g, '$1');
  }
  return null;
}
