import type { AddressZone } from '../../shared/zones/address-zone.ts';
import type { RuntimeTarget } from '../balancer/runtime-target.ts';
import { hasFailed } from '../balancer/usable-target.ts';
import type { Exchange } from '../request/exchange.ts';
import type { RuntimeUpstream } from '../snapshot/runtime.ts';

/** One decision of the balancer, and why the other addresses were not chosen. */
export interface BalancerChoice {
  readonly upstream: string;
  readonly chosen: string | null;
  /** Where no address was found although some were usable. */
  readonly reason: string | null;
  readonly others: readonly { readonly address: string; readonly weight: number; readonly because: string }[];
  /** Number of further addresses. */
  readonly more: number;
}

/** The address that the balancer returned. */
export interface Chosen {
  readonly host: string;
  readonly ip: string;
  readonly port: number;
}

const maxOthers = 100;

/** Records which addresses the plugins of a request have rejected during one decision, without calling them again. */
export class ChoiceRecorder {
  readonly #refused = new Set<RuntimeTarget>();
  readonly #failedBefore: readonly RuntimeTarget[];

  constructor(x: Exchange) {
    this.#failedBefore = [...(x.failedTargets ?? [])];
    const { policy } = x;
    const admits = policy?.admits ?? null;
    if (policy === null || admits === null) return;
    policy.admits = (target) => {
      const admitted = admits(target);
      if (admitted) this.#refused.delete(target);
      else this.#refused.add(target);
      return admitted;
    };
  }

  choice(upstream: RuntimeUpstream, chosen: Chosen | null, zone: AddressZone): BalancerChoice {
    const all = upstream.targets.map((target) => ({
      target,
      address: addressOf(target),
      weight: target.weight,
      because: this.#reason(target, zone),
    }));
    const at = chosen === null ? -1 : all.findIndex(({ target }) => isChosen(target, chosen));
    const address = all[at]?.address ?? null;
    const others = all.filter((_, index) => index !== at);
    const usable = others.some(({ because }) => because === notChosen);
    return {
      upstream: upstream.name,
      chosen: address,
      reason: address === null ? noAddress(upstream, usable) : null,
      others: others.slice(0, maxOthers).map(({ address: passedOver, weight, because }) => ({
        address: passedOver,
        weight,
        because: address === null && because === notChosen ? 'healthy' : because,
      })),
      more: Math.max(0, others.length - maxOthers),
    };
  }

  #reason(target: RuntimeTarget, zone: AddressZone): string {
    if (!zone.isHealthy(target.slot)) return 'unhealthy';
    if (this.#refused.has(target)) return 'refused by a plugin: its circuit is open';
    const query = { failedTargets: this.#failedBefore, admits: null, hashInput: () => null };
    if (hasFailed(query, target)) return 'has failed for this request already';
    return notChosen;
  }
}

function isChosen({ host, ip, port }: RuntimeTarget, chosen: Chosen): boolean {
  return host === chosen.host && port === chosen.port && (ip ?? '') === chosen.ip;
}

const notChosen = 'could be used: another one was chosen';

function noAddress({ targets, pending }: RuntimeUpstream, usable: boolean): string {
  if (pending.length > 0) return 'names of its targets are not resolved yet';
  if (targets.length === 0) return 'the upstream has no target with a weight above 0 whose name has an address';
  if (usable) return 'too little of the weight is healthy (healthchecks.threshold)';
  return 'no address is healthy and admitted';
}

function addressOf({ host, ip, port }: RuntimeTarget): string {
  return ip === null || ip === host ? `${bracketed(host)}:${port}` : `${bracketed(host)}:${port} (${ip})`;
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
