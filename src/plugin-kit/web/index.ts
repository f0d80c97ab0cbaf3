/**
 * Requests and responses as objects of the web platform, for handlers that are written for it: `sluicegate/plugin-kit/web`.
 * `webRequest` and `webResponse` are views that are built only as far as they are read, `webHeaders` copies headers, `replyFrom` answers
 * with a `Response`. Plugins that do not import it pay nothing.
 */

export { type ReplyFromOptions, replyFrom } from './reply-from.ts';
export { type HasHeaders, webHeaders } from './web-headers.ts';
export { webRequest } from './web-request.ts';
export { webResponse } from './web-response.ts';
