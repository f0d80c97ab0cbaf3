import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import type { Plugin } from '../../plugin-sdk/define-plugin.ts';
import type { PluginPhases } from '../../plugin-sdk/phases.ts';
import type { PluginTools } from '../../plugin-sdk/tools.ts';
import type { Undecided } from '../../shared/messages/dry-run.ts';

/** A plugin instance of a dry run. */
interface Watched {
  readonly name: string;
  /** It has tried to leave the thread: what it waits for later may be the result. */
  leaves: boolean;
}

interface Running {
  readonly instance: Watched;
  /** Number of the request whose phase began it; -1: `setup`. */
  readonly request: number;
}

type Phase = (this: unknown, ...given: unknown[]) => unknown;

/** The phases of a dry run. The others only report what has happened. */
const decisive = [
  'rewrite',
  'access',
  'accessSkipped',
  'backendAnswer',
  'backendFailure',
  'shouldBufferResponse',
  'response',
  'headerFilter',
  'bodyFilter',
] as const;

/**
 * Watches what the plugins of a dry run do: a request whose decision depends on something outside of the thread is undecided. Phases that
 * only report do not run.
 */
export class PluginWatch {
  readonly #running = new AsyncLocalStorage<Running>();
  readonly #configs = new Map<string, string>();
  readonly #wrapped = new Map<string, Plugin>();
  #request = -1;
  #undecided: (undecided: Undecided) => void = () => {};
  #certificates = true;

  /** A request is repeated from now on. `undecided` is called when nothing can be said about it. `certificates`: those of the client are known. */
  begin(request: number, certificates: boolean, undecided: (undecided: Undecided) => void): void {
    this.#request = request;
    this.#certificates = certificates;
    this.#undecided = undecided;
  }

  /** The current request depends on something that the dry run does not have. */
  giveUp(reason: string, plugin: string | null): void {
    this.#undecided({ reason, plugin });
  }

  /** Something outside of the thread was attempted, or would have to be asked. */
  attempted(reason: string): void {
    const running = this.#running.getStore();
    if (running === undefined) return;
    running.instance.leaves = true;
    if (running.request === this.#request && running.request >= 0) this.giveUp(reason, running.instance.name);
  }

  /** Stands for an instance with its config. */
  fingerprint(instanceId: string): string {
    return this.#configs.get(instanceId) ?? instanceId;
  }

  /** The same plugin, watched. */
  watched(plugin: Plugin): Plugin {
    const known = this.#wrapped.get(plugin.name);
    if (known !== undefined) return known;
    const setup = (config: unknown, tools: PluginTools): PluginPhases => this.#setUp(plugin, config, tools);
    const wrapped = Object.create(plugin, { setup: { value: setup } }) as Plugin;
    this.#wrapped.set(plugin.name, wrapped);
    return wrapped;
  }

  #setUp(plugin: Plugin, config: unknown, tools: PluginTools): PluginPhases {
    const instance: Watched = { name: plugin.name, leaves: false };
    const digest = createHash('sha256').update(JSON.stringify(config)).digest('hex');
    this.#configs.set(tools.instanceId, `${plugin.name} ${digest}`);
    const certificate = plugin.needs(config).clientCertificate === true;
    const phases = this.#running.run({ instance, request: -1 }, () => plugin.setup(config, tools));
    const wrapped: Record<string, unknown> = {};
    for (const name of decisive) {
      const phase = phases[name];
      if (phase !== undefined) wrapped[name] = this.#watchedPhase(instance, certificate, phases, phase as Phase);
    }
    if (phases.logMask !== undefined) wrapped['logMask'] = phases.logMask;
    return wrapped as PluginPhases;
  }

  #watchedPhase(instance: Watched, certificate: boolean, phases: PluginPhases, phase: Phase): Phase {
    return (...given) => {
      const request = this.#request;
      if (certificate && !this.#certificates) this.giveUp(notRequested, instance.name);
      const result = this.#running.run({ instance, request }, () => phase.apply(phases, given));
      if (instance.leaves && result instanceof Promise) this.giveUp(outside, instance.name);
      return result;
    };
  }
}

const notRequested = 'It depends on the certificate of the client, which the gateway had not requested.';
export const outside = 'It depends on an answer from outside of the gateway, which a dry run does not ask for.';
