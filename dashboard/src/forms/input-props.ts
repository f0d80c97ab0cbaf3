import type { FieldSchema } from './schema.ts';
import type { Path } from './value.ts';

/** What every input of a form receives. */
export interface InputProps {
  readonly name: string;
  readonly schema: FieldSchema;
  readonly path: Path;
  readonly id: string;
  readonly invalid: boolean;
  /** Ids of its description and its problem. */
  readonly describedBy: string;
}
