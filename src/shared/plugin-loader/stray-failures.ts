import { throttledLog } from '../util/time/throttled-log.ts';
import { MeterPhase, type PluginMeters } from '../zones/plugin-meter.ts';
import { placeText, stackPlaces } from './error-place.ts';
import { type FailureFields, failureFields, failureMessage } from './failure-fields.ts';
import { isPluginCode, pluginOfFile } from './plugin-origin.ts';

export interface StrayFailuresOptions {
  readonly meters: PluginMeters;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** Milliseconds between two lines about the same place in the code. */
const quiet = 10_000;
/** Maximum places that are throttled separately. */
const maxPlaces = 100;

interface Stray extends FailureFields {
  readonly plugin: string | null;
}

/**
 * Exceptions of plugins outside of phases: in timers, listeners and promises that nobody awaits. Each is counted, logged with plugin,
 * file and line, and does no further harm. A timer that fails again and again is logged every ten seconds.
 */
export class StrayFailures {
  readonly #options: StrayFailuresOptions;
  readonly #lines = new Map<string, (stray: Stray) => void>();

  constructor(options: StrayFailuresOptions) {
    this.#options = options;
  }

  /** Code of a plugin is in the stack. */
  isOfPlugin(error: unknown): boolean {
    return stackPlaces(error).some(({ file }) => isPluginCode(file));
  }

  /** Nothing says whose it is: a value without a stack (`throw 'x'`), or an `error` event that nobody listens to. */
  isOfNobody(error: unknown): boolean {
    return stackPlaces(error).length === 0;
  }

  /** Returns the name of the plugin; null: it is not known. */
  report(error: unknown): string | null {
    const own = stackPlaces(error).filter(({ file }) => isPluginCode(file));
    const known = own.find(({ file }) => pluginOfFile(file) !== null);
    const plugin = known === undefined ? null : pluginOfFile(known.file);
    if (plugin !== null) this.#options.meters.of(plugin).failed(MeterPhase.outside);
    const fields = failureFields(error);
    const at = known === undefined ? fields.at : placeText(known);
    this.#line(`${plugin} ${at ?? failureMessage(error)}`)({ plugin, ...fields, ...(at === undefined ? {} : { at }) });
    return plugin;
  }

  #line(key: string): (stray: Stray) => void {
    const kept = this.#lines.has(key) || this.#lines.size < maxPlaces ? key : '';
    let line = this.#lines.get(kept);
    if (line === undefined) {
      line = throttledLog<Stray>(quiet, ({ plugin, ...fields }, suppressed) =>
        this.#options.log('plugin failed outside of a request; continuing', {
          ...(plugin === null ? {} : { plugin }),
          ...fields,
          ...(suppressed === 0 ? {} : { suppressed }),
        }),
      );
      this.#lines.set(kept, line);
    }
    return line;
  }
}
