import { createRequire } from 'node:module';
import { monotonic } from '../../shared/util/time/clock.ts';
import type { Exchange } from '../request/exchange.ts';
import type { Explainer, ExplainerParts } from './explainer.ts';

/** An explainer whose code is loaded with the first request that carries debug fields: most workers never see one. */
export class LateExplainer {
  readonly #parts: ExplainerParts;
  #explainer: Explainer | null = null;

  constructor(parts: ExplainerParts) {
    this.#parts = parts;
  }

  /** Call this before anything else happens to a request with debug fields. False: it must be refused. */
  begin(x: Exchange): boolean {
    if (this.#explainer === null) {
      const before = monotonic();
      this.#explainer = this.#load();
      // The request starts after the explainer is loaded, so that its times do not include the loading.
      const spent = monotonic() - before;
      x.startedAt += spent;
      x.startedMono += spent;
    }
    return this.#explainer.begin(x);
  }

  #load(): Explainer {
    const module = createRequire(import.meta.url)('./explainer.ts') as typeof import('./explainer.ts');
    return new module.Explainer(this.#parts);
  }
}
