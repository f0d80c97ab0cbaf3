import type { Reply } from '../../plugin-sdk/reply.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import { ExplainRecorder } from '../explain/explain-recorder.ts';
import type { Exchange } from '../request/exchange.ts';

/** The reasons of a decision among more addresses are not recorded: they would take too long. */
const maxTargets = 100;

/**
 * Records one request while it is served. In contrast to an explanation nothing waits for it: what would take long is left out, or is
 * done after the answer.
 */
export class RecordingTrace extends ExplainRecorder {
  /** The router has run. */
  wasRouted = false;
  /** The last reply of a plugin. */
  reply: Reply | null = null;
  readonly #shown: boolean;

  /** `shown`: the request is traced anyway, so plugins see the spans. */
  constructor(x: Exchange, zone: AddressZone, shown: boolean) {
    super(x, zone);
    this.#shown = shown;
  }

  override get shown(): boolean {
    return this.#shown;
  }

  override pluginEnds(result: Reply | undefined): void {
    if (result !== undefined) this.reply = result;
    super.pluginEnds(result);
  }

  override pluginFailed(reply?: Reply): void {
    if (reply !== undefined) this.reply = reply;
    super.pluginFailed(reply);
  }

  override pluginOverBudget(decided: string, reply?: Reply): void {
    if (reply !== undefined) this.reply = reply;
    super.pluginOverBudget(decided, reply);
  }

  protected override routed(): void {
    this.wasRouted = true;
  }

  protected override recordsChoices(): boolean {
    const upstream = this.exchange.policy?.upstream ?? this.exchange.service?.upstream ?? null;
    return upstream === null || upstream.targets.length <= maxTargets;
  }
}
