/** What to write instead of calls of Kong's PDK; the table of docs/plugin-functions.md has the same rows. */
export const counterparts: ReadonlyMap<string, string> = new Map([
  ['kong.request.get_header', 'context.request.header(name)'],
  ['kong.request.get_headers', 'context.request.headers()'],
  ['kong.request.get_method', 'context.request.method'],
  ['kong.request.get_scheme', 'context.request.scheme'],
  ['kong.request.get_host', 'context.request.host'],
  ['kong.request.get_port', 'context.request.port'],
  ['kong.request.get_path', 'context.request.path'],
  ['kong.request.get_raw_path', 'context.request.rawPath'],
  ['kong.request.get_query_arg', 'context.request.queryArgument(name)'],
  ['kong.request.get_query', 'context.request.queryArguments()'],
  ['kong.request.get_raw_query', 'context.request.query'],
  ['kong.request.get_uri_captures', 'context.request.uriCaptures()'],
  ['kong.request.get_raw_body', 'await context.decodedBody() (sandbox: context.bodyText())'],
  [
    'kong.request.get_body',
    'JSON.parse(Buffer.from(await context.decodedBody())) (sandbox: JSON.parse(context.bodyText()))',
  ],
  ['kong.client.get_ip', 'context.client.peerIp'],
  ['kong.client.get_forwarded_ip', 'context.client.ip'],
  ['kong.client.get_consumer', 'context.client.consumer'],
  ['kong.client.get_credential', 'context.client.credential'],
  ['kong.router.get_route', 'context.route'],
  ['kong.router.get_service', 'context.service'],
  ['kong.service.request.set_header', 'context.upstream.setHeader(name, value)'],
  ['kong.service.request.add_header', 'context.upstream.addHeader(name, value)'],
  ['kong.service.request.clear_header', 'context.upstream.removeHeader(name)'],
  ['kong.service.request.set_method', 'context.upstream.setMethod(method)'],
  ['kong.service.request.set_path', 'context.upstream.setPath(path)'],
  ['kong.service.request.set_raw_query', 'context.upstream.setQuery(query)'],
  ['kong.service.request.set_raw_body', 'context.upstream.setBody(bytes) (sandbox: a text)'],
  ['kong.service.set_upstream', 'context.upstream.setUpstream(name)'],
  ['kong.service.set_timeouts', 'context.upstream.setTimeouts({ connect, send, firstByte })'],
  ['kong.response.exit', 'return replyJson(status, value), or return reply({ status, headers, body })'],
  ['kong.response.error', 'return refuse(status, message)'],
  ['kong.response.get_status', 'context.response.status'],
  ['kong.response.get_header', 'context.response.header(name)'],
  ['kong.response.get_source', 'context.response.source'],
  ['kong.response.set_status', 'context.response.setStatus(status)'],
  ['kong.response.set_header', 'context.response.setHeader(name, value)'],
  ['kong.response.add_header', 'context.response.addHeader(name, value)'],
  ['kong.response.clear_header', 'context.response.removeHeader(name)'],
  ['kong.response.get_raw_body', 'a body_filter function: (context, text, last) => ...'],
  ['kong.response.set_raw_body', 'a body_filter function that returns the text'],
  ['kong.log.set_serialize_value', 'context.log(field, value)'],
  ['kong.log.serialize', 'context.record()'],
  ['kong.log.err', 'log.error(message, fields)'],
  ['kong.log.warn', 'log.warn(message, fields)'],
  ['kong.log.notice', 'log.info(message, fields)'],
  ['kong.log.info', 'log.info(message, fields)'],
  ['kong.log.debug', 'log.debug(message, fields)'],
  ['kong.ctx.shared', 'context.set(key, value) and context.get(key), with const key = contextKey(name)'],
  ['kong.ctx.plugin', 'context.set(key, value) and context.get(key), with const key = contextKey(name)'],
  ['ngx.encode_base64', 'encode.base64(text)'],
  ['ngx.decode_base64', 'encode.fromBase64(text)'],
  ['ngx.now', 'Date.now() / 1000'],
  ['ngx.time', 'Math.floor(Date.now() / 1000)'],
]);

const signs = [
  /(?:^|[\s;(])local\s+(?:function\b|[A-Za-z_])/,
  /\bkong\.(?:request|service|response|client|router|ctx|log|node|ip|cache|db|table)\b/,
  /\bngx\.\w/,
  /^[ \t]*--/m,
  /\brequire[ \t]*["']/,
];

/** What a block begins with that a later `end` closes. */
const blockStarts = [/\bthen\b/, /\bfunction[ \t]{0,9}[\w.:]{0,99}[ \t]{0,9}\([^)]{0,199}\)(?![ \t]*\{)/];

function isLua(text: string): boolean {
  if (signs.some((sign) => sign.test(text))) return true;
  const start = Math.min(...blockStarts.map((one) => one.exec(text)?.index ?? text.length));
  return /\bend\b/.test(text.slice(start));
}

/** A message when the text is Lua, with what to write instead; null: it is not. For texts that are no JavaScript function. */
export function luaProblem(text: string): string | null {
  if (!isLua(text)) return null;
  const advice = 'this is Lua; write a JavaScript function: (context) => { ... }';
  const used = /\b(?:kong|ngx)(?:\.[a-z_]+)+/g;
  for (const [call] of text.matchAll(used)) {
    const instead = counterparts.get(call);
    if (instead !== undefined) return `${advice}. Instead of ${call} write ${instead} (docs/plugin-functions.md)`;
  }
  return `${advice} (docs/plugin-functions.md)`;
}
