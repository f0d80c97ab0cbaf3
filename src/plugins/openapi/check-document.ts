import type { ApiConfig } from '../../plugin-kit/openapi/index.ts';
import { apiProblem as problemOf } from '../../plugin-kit/openapi/index.ts';

/** Checks the whole document; null: valid. For the control plane, which loads it when there is a document, also in another thread. */
export function apiProblem(config: ApiConfig): string | null {
  return problemOf(config);
}
