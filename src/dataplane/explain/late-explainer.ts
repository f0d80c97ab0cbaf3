import { createRequire } from 'node:module';
import type { Exchange } from '../exchange.ts';
import type { Explainer, ExplainerParts } from './explainer.ts';

/** An explainer whose code is loaded with the first request that carries debug fields: hardly a worker ever sees one. */
export class LateExplainer {
  readonly #parts: ExplainerParts;
  #explainer: Explainer | null = null;

  constructor(parts: ExplainerParts) {
    this.#parts = parts;
  }

  /** To be called before anything else happens to a request with debug fields. */
  begin(x: Exchange): void {
    this.#explainer ??= this.#load();
    this.#explainer.begin(x);
  }

  #load(): Explainer {
    const module = createRequire(import.meta.url)('./explainer.ts') as typeof import('./explainer.ts');
    return new module.Explainer(this.#parts);
  }
}
