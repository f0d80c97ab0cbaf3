import type { ClientView } from '../../../plugin-sdk/request-views.ts';
import { sharedValues } from '../../templates/roots.ts';
import { utf8FromLatin1, type Value } from '../../templates/values.ts';
import { firstValue, type LogView } from './log-view.ts';

/** A getter of Kong's plugin development kit that works without Lua. */
interface Getter {
  /** How it is called: `()`, `('name')`, or without parentheses. */
  readonly takes: 'no argument' | 'name' | 'nothing';
  readonly read: (view: LogView, name?: string) => Value;
}

function plain(read: (view: LogView) => Value): Getter {
  return { takes: 'no argument', read };
}

function named(read: (view: LogView, name: string) => Value): Getter {
  return { takes: 'name', read: (view, name = '') => read(view, name) };
}

/** By Kong's names. */
export const getters: ReadonlyMap<string, Getter> = new Map<string, Getter>([
  ['kong.request.get_header', named(({ request }, name) => firstValue(request.headerValues(name)))],
  ['kong.request.get_headers', plain(({ request }) => request.headers())],
  ['kong.request.get_query_arg', named(queryArgument)],
  ['kong.request.get_query', plain(({ request }) => request.queryArguments())],
  ['kong.request.get_raw_query', plain(({ request }) => request.query)],
  ['kong.request.get_path', plain(({ request }) => utf8FromLatin1(request.path))],
  ['kong.request.get_raw_path', plain(({ request }) => request.rawPath)],
  ['kong.request.get_path_with_query', plain(({ request }) => request.uri)],
  ['kong.request.get_method', plain(({ request }) => request.method)],
  ['kong.request.get_host', plain(({ request }) => request.host)],
  ['kong.request.get_port', plain(({ request }) => request.port)],
  ['kong.request.get_scheme', plain(({ request }) => request.scheme)],
  ['kong.request.get_forwarded_host', plain(({ request }) => request.host)],
  ['kong.request.get_forwarded_port', plain(({ request }) => request.port)],
  ['kong.request.get_forwarded_scheme', plain(({ request }) => request.scheme)],
  ['kong.request.get_http_version', plain(({ request }) => Number(request.httpVersion))],
  ['kong.request.get_id', plain(({ request }) => request.id)],
  ['kong.response.get_header', named(({ response }, name) => firstValue(response.headerValues(name)))],
  ['kong.response.get_headers', plain(({ response }) => response.headers())],
  ['kong.response.get_status', plain(({ response }) => response.status)],
  ['kong.response.get_source', plain(({ response }) => (response.source === 'upstream' ? 'service' : 'exit'))],
  ['kong.client.get_ip', plain(({ client }) => ('peerIp' in client ? client.peerIp : client.ip))],
  ['kong.client.get_forwarded_ip', plain(({ client }) => client.ip)],
  ['kong.client.get_port', plain(({ client }) => client.port)],
  ['kong.client.get_consumer', plain(consumer)],
  ['kong.client.get_credential', plain(credential)],
  ['kong.router.get_route', plain(({ route }) => route)],
  ['kong.router.get_service', plain(({ service }) => service)],
  ['kong.ctx.shared', { takes: 'nothing', read: (view) => view.get(sharedValues) ?? null }],
]);

/** As in Kong: true for an argument without a value. */
function queryArgument({ request }: LogView, name: string): Value {
  const value = request.queryArgument(name);
  if (value !== '') return value;
  return request.queryArguments()[name] === true ? true : '';
}

/** Not available for streams. */
function clientOf({ client }: LogView): Pick<ClientView, 'consumer' | 'credential'> {
  return 'consumer' in client ? client : { consumer: null, credential: null };
}

function consumer(view: LogView): Value {
  const { consumer: found } = clientOf(view);
  return found && { id: found.id, username: found.username, custom_id: found.customId, tags: found.tags };
}

function credential(view: LogView): Value {
  const { credential: found } = clientOf(view);
  return found && { id: found.id };
}
