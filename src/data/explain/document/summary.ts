import { monotonic } from '../../../shared/util/time/clock.ts';
import type { Exchange } from '../../request/exchange.ts';
import type { AnswerPart, Explained } from '../explained.ts';
import { addressText } from './attempts-part.ts';
import { routeLabel } from './route-label.ts';

/** What happened, in one sentence. */
export function summaryOf({ x, held, recorder }: Explained, answer: AnswerPart): string {
  const request = `${x.head.method} ${x.head.rawPath}`;
  const routed = x.route === null ? '' : ` matched the route ${routeLabel(x.route)}`;
  if (held !== null) return `${request}${routed} and would go to ${place(x, held)}${heldBy(held.calledBy)}`;
  const took = `in ${(monotonic() - x.startedMono).toFixed(1)} ms`;
  if (recorder.match === null)
    return `${request} was answered ${answer.status} ${took}, before it was routed: ${byWhom(answer)}`;
  if (x.route === null) return `${request} matched no route, and was answered ${answer.status} ${took}`;
  return `${request}${routed} and was answered ${answer.status} ${took}: ${byWhom(answer)}`;
}

function byWhom({ by, who, error, message }: AnswerPart): string {
  const said = message === null ? '' : ` (${message})`;
  if (by === 'backend') return `by the backend at ${who}`;
  if (by === 'plugin') return who === null ? 'by a plugin, instead of a backend' : `by the plugin ${who}${said}`;
  if (error === null) return `by the gateway itself${said}`;
  return `by the gateway itself (${error.message})${error.cause === null ? '' : `; cause: ${error.cause}`}`;
}

function place(
  { service }: Exchange,
  { host, ip, port }: { readonly host: string; readonly ip: string; readonly port: number },
): string {
  const address = host === ip ? addressText(ip, port) : `${host} (${addressText(ip, port)})`;
  return service === null ? address : `${address}, service ${nameOf(service)}`;
}

function heldBy(plugin: string | null): string {
  return plugin === null ? '' : `, asked by the plugin ${plugin}`;
}

function nameOf({ id, name }: { readonly id: string; readonly name: string | null }): string {
  return name ?? id;
}
