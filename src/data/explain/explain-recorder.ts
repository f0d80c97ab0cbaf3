import type { SpanKind } from '../../plugin-sdk/trace.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import { type Facts, TraceRecorder } from '../answer/trace-recorder.ts';
import type { Exchange } from '../request/exchange.ts';
import { ExchangeQuery } from '../request/exchange-query.ts';
import type { RouteExplanation } from '../snapshot/runtime.ts';
import { type BalancerChoice, ChoiceRecorder } from './balancer-choice.ts';
import { changesSince, type RequestState, requestState } from './request-state.ts';

/** Maximum routes that are reported in addition to the one that matched. */
export const maxRoutes = 20;

/** An address to which a request was not sent. */
export interface HeldAttempt {
  readonly host: string;
  readonly ip: string;
  readonly port: number;
  /** Name of the plugin that made the call; null: the request itself. */
  readonly calledBy: string | null;
}

/** Records, in addition to the spans, the reasons of decisions. */
export class ExplainRecorder extends TraceRecorder {
  /** The changes of each plugin phase, by the number of its span. */
  readonly changes = new Map<number, readonly string[]>();
  readonly choices: BalancerChoice[] = [];
  /** Numbers of spans that belong to calls of plugins, and the plugins' names. */
  readonly calls = new Map<number, string>();
  /** Null: the request did not get that far. */
  match: RouteExplanation | null = null;
  /**
   * Set for requests that must not reach a backend: called once, with the first address that would have been contacted.
   */
  onHeld: ((held: HeldAttempt) => void) | null = null;
  protected readonly exchange: Exchange;
  readonly #zone: AddressZone;
  readonly #offset: number;
  readonly #before = new Map<number, RequestState>();
  #choice: ChoiceRecorder | null = null;
  #held = false;

  constructor(x: Exchange, zone: AddressZone) {
    const offset = x.startedAt - x.startedMono;
    super(offset);
    this.#offset = offset;
    this.exchange = x;
    this.#zone = zone;
  }

  override branch(detached: boolean): TraceRecorder {
    return new CallRecorder(this.#offset, this, this.#runningPlugin(), detached);
  }

  override begin(kind: SpanKind, name: string = kind, facts: Facts = {}): number {
    const span = super.begin(kind, name, facts);
    if (kind === 'plugin') this.#before.set(span, requestState(this.exchange));
    else if (kind === 'balancer' && this.recordsChoices()) this.#choice = new ChoiceRecorder(this.exchange);
    return span;
  }

  override end(span: number, facts?: Facts): void {
    const open = this.spans[span];
    if (open === undefined || open.end > 0) return;
    super.end(span, facts);
    if (open.kind === 'plugin') this.#pluginEnded(span);
    else if (open.kind === 'router') this.routed();
    else if (open.kind === 'balancer') this.#balanced(open.facts);
  }

  override get dry(): boolean {
    return this.onHeld !== null;
  }

  override stopsBefore(facts: Facts): boolean {
    return this.hold(facts, null);
  }

  /** True: nothing must be sent to this address. */
  hold({ host, ip, port }: Facts, calledBy: string | null): boolean {
    if (this.onHeld === null) return false;
    if (!this.#held) {
      this.#held = true;
      this.onHeld({ host: String(host), ip: String(ip), port: Number(port), calledBy });
    }
    return true;
  }

  #pluginEnded(span: number): void {
    const before = this.#before.get(span);
    this.#before.delete(span);
    if (before !== undefined) this.changes.set(span, changesSince(before, this.exchange));
  }

  /** Immediately: the next change of the configuration would give another explanation. */
  protected routed(): void {
    this.match = explainRoute(this.exchange);
  }

  /** Whether decisions of the balancer are recorded with the addresses that were not chosen. */
  protected recordsChoices(): boolean {
    return true;
  }

  #balanced({ host, ip, port, failed }: Readonly<Facts>): void {
    const { balanced } = this.exchange;
    if (balanced === null || this.#choice === null) return;
    const chosen = failed === true ? null : { host: String(host), ip: String(ip), port: Number(port) };
    this.choices.push(this.#choice.choice(balanced, chosen, this.#zone));
    this.#choice = null;
  }

  #runningPlugin(): string {
    const { plan, accessAt } = this.exchange;
    return plan.access[accessAt]?.name ?? '';
  }
}

/** Why the request matches its route, and others do not. Inspects every route. */
export function explainRoute(x: Exchange): RouteExplanation {
  const query = new ExchangeQuery();
  query.exchange = x;
  return x.snapshot.explainRoute(query, maxRoutes);
}

/** Records the spans of a plugin's call among those of the request. */
class CallRecorder extends TraceRecorder {
  readonly #parent: ExplainRecorder;
  readonly #plugin: string;
  readonly #detached: boolean;

  constructor(offset: number, parent: ExplainRecorder, plugin: string, detached: boolean) {
    super(offset, parent.spans);
    this.#parent = parent;
    this.#plugin = plugin;
    this.#detached = detached;
  }

  override begin(kind: SpanKind, name: string = kind, facts: Facts = {}): number {
    const span = super.begin(kind, name, facts);
    this.#parent.calls.set(span, this.#plugin);
    return span;
  }

  override stopsBefore(facts: Facts): boolean {
    // Nothing waits for a detached call: it ends by its own timeout.
    return this.#detached ? this.#parent.dry : this.#parent.hold(facts, this.#plugin);
  }
}
