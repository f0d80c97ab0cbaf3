import { createContext, type ReactNode, useContext } from 'react';
import type { NamedField } from './schema.ts';
import type { Path } from './value.ts';

export interface FormState {
  readonly value: unknown;
  /** `fields` of the last refusal. */
  readonly problems: unknown;
  /** The caller may not change the entity. */
  readonly readOnly: boolean;
  /** The fields of a record within the entity. */
  fieldsIn(fields: readonly NamedField[], path: Path): ReactNode;
  /** Undefined unsets the field. */
  set(path: Path, value: unknown): void;
}

export const FormContext = createContext<FormState | null>(null);

export function useForm(): FormState {
  const form = useContext(FormContext);
  if (form === null) throw new Error('a field is outside of its form');
  return form;
}

/** The id of the control of a field. */
export function idOf(path: Path): string {
  return `field-${path.join('-')}`;
}
