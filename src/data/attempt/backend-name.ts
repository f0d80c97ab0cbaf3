import { hostName } from '../../shared/util/net/host-header.ts';
import type { Exchange } from '../request/exchange.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';

/** The SNI that a TLS backend gets and the name its certificate must have, where it is not the name of its address. */
export interface BackendName {
  readonly name: string;
  /** The client chose it. */
  readonly chosen: boolean;
}

/** As in Kong, the name follows the `Host` that the backend receives. Null: the name of its address; always without TLS. */
export function backendName(x: Exchange, service: RuntimeService): BackendName | null {
  if (service.tls === null) return null;
  const edited = x.requestEdits === null ? null : x.requestEdits.value('', 'host');
  if (edited !== null) return named(edited, true);
  if (x.route?.preserveHost === true && x.head.host !== '') return named(x.head.host, true);
  const own = x.balanced?.hostHeader ?? null;
  return own === null ? null : named(own, false);
}

/** RFC 1035 2.3.4; underscores are accepted because names with them are in use. */
const hostNameForm = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/;

function named(host: string, chosen: boolean): BackendName | null {
  const name = hostName(host).replace(/\.$/, '');
  return hostNameForm.test(name) ? { name, chosen } : null;
}
