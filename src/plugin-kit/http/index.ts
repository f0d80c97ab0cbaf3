/**
 * Parts of HTTP messages: `sluicegate/plugin-kit/http`. Media types, cookies, `Vary`, lists in headers, arguments of forms and
 * JSON bodies, multipart bodies, paths, what `Accept` prefers, text for HTML.
 */

export { escapePath, normalisePath } from '../../shared/http/path.ts';
export { utf8FromLatin1 } from '../../shared/util/bytes/latin1.ts';
export { type MultipartPart, multipartParts } from '../../shared/util/bytes/multipart.ts';
export { answerCopy } from './answer-copy.ts';
export {
  type BodyArguments,
  bodyArguments,
  decodeArgument,
  formBoundary,
  hasBodyArguments,
  withoutBodyArguments,
} from './body-arguments.ts';
export { type CookieAttributes, cookieValues, setCookie } from './cookies.ts';
export { escapeHtml } from './escape-html.ts';
export { listElements } from './list-elements.ts';
export { type MediaType, mediaType } from './media-type.ts';
export { type NamedValue, namedField, namedValue } from './named-value.ts';
export { preferredType } from './preferred-type.ts';
export { addVary } from './vary.ts';
