import type { Field } from './fields.ts';

export type FieldType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'set' | 'map' | 'record' | 'foreign';

/** A pattern that must not match, with the message for when it does. */
export interface ForbiddenPattern {
  readonly pattern: RegExp;
  readonly err: string;
}

/**
 * Constraints on a value of the right type. They are tried in Kong's fixed order (see `attributes.ts`), and the first
 * that fails gives the field's message.
 */
export interface Attributes {
  /** The only value allowed; null means that the field must stay unset. */
  readonly eq?: unknown;
  readonly ne?: unknown;
  readonly one_of?: readonly (string | number)[];
  readonly not_one_of?: readonly (string | number)[];
  readonly gt?: number;
  /** Inclusive on both ends. */
  readonly between?: readonly [number, number];
  /** A positive number of seconds since the epoch. */
  readonly timestamp?: boolean;
  readonly uuid?: boolean;
  /** The text must be a regular expression that the router's linear-time dialect accepts. */
  readonly is_regex?: boolean;
  readonly len_eq?: number;
  /** Characters, elements or keys. A string has 1 unless it says 0. */
  readonly len_min?: number;
  readonly len_max?: number;
  readonly starts_with?: string;
  readonly match?: RegExp;
  readonly not_match?: RegExp;
  readonly match_none?: readonly ForbiddenPattern[];
  /** An array or set must have this element. */
  readonly contains?: unknown;
  /** Returns the message of what is wrong, or null. Left out of the exported schema. */
  readonly custom?: (value: never) => string | null;
  /** The elements of a set must all lie within one of these. */
  readonly mutually_exclusive_subsets?: readonly (readonly string[])[];
  /** Replaces the message of every constraint of this field. */
  readonly err?: string;
}

/** What replaces a deprecated field. */
export interface Deprecation {
  readonly message?: string;
  /** First version in which the field is gone. */
  readonly removal_in_version?: string;
  readonly replaced_with?: readonly { readonly path: readonly string[] }[];
}

/** What a declaration may say of any field. */
export interface FieldOptions extends Attributes {
  /** A required field is never null: without a default it must be given. */
  readonly required?: boolean;
  /** Taken when the field is missing; an explicit null brings it back only for a required field. */
  readonly default?: unknown;
  /** POST and PUT refuse an explicit null although there is a default, as Kong does; a PATCH with null restores the default. */
  readonly refuses_null?: boolean;
  readonly description?: string;
  /** JSON Schema `pattern` of valid values, for documentation only; code validates them. */
  readonly pattern?: string;
  /** Unit of a quantity, for documentation: `ms`, `s`, `bytes`. */
  readonly unit?: string;
  /** Generated when not given: a UUID, a timestamp, or 32 random letters and digits. */
  readonly auto?: boolean;
  readonly unique?: boolean;
  /** May hold `{vault://...}`; such a text passes every constraint. */
  readonly referenceable?: boolean;
  /** A secret: never logged. */
  readonly encrypted?: boolean;
  readonly deprecation?: Deprecation;
  /** Accepted on input, but not a column of the entity: `snis` of a certificate. Left out of the exported schema. */
  readonly virtual?: boolean;
  /**
   * Follows from other fields: answers show it, an existing entity keeps its own whatever a client sends, and the exported
   * schema leaves it out, so that no form asks for it.
   */
  readonly computed?: boolean;
}

/** Everything known of a field beside its zod types. Names are Kong's, as they appear under `/schemas`. */
export interface FieldMeta extends FieldOptions {
  readonly type: FieldType;
  readonly required: boolean;
  readonly elements?: Field;
  readonly keys?: Field;
  readonly values?: Field;
  /** Schema name of the entity that a foreign field refers to. */
  readonly reference?: string;
  readonly on_delete?: 'cascade' | 'restrict';
}
