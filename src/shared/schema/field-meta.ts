import type { z } from 'zod';

export type FieldType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'set' | 'map' | 'record' | 'foreign';

/** A pattern that must not match, with the message for when it does. */
export interface ForbiddenPattern {
  readonly pattern: RegExp;
  readonly err: string;
}

/**
 * Constraints on a value of the right type. They are checked in Kong's fixed order (see `attributes.ts`), and the first
 * that fails provides the field's message.
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
  /** The text must be a regular expression of the router's linear-time dialect. */
  readonly is_regex?: boolean;
  readonly len_eq?: number;
  /** Characters, elements or keys. The minimum for a string is 1 unless it is set to 0. */
  readonly len_min?: number;
  readonly len_max?: number;
  readonly starts_with?: string;
  readonly match?: RegExp;
  readonly not_match?: RegExp;
  readonly match_none?: readonly ForbiddenPattern[];
  /** An array or set must contain this element. */
  readonly contains?: unknown;
  /** Returns the message of what is wrong, or null. Omitted from the exported schema. */
  readonly custom?: (value: never) => string | null;
  /** The elements of a set must all lie within one of these. */
  readonly mutually_exclusive_subsets?: readonly (readonly string[])[];
  /** Replaces the message of every constraint of this field. */
  readonly err?: string;
}

/** The replacement of a deprecated field. */
export interface Deprecation {
  readonly message?: string;
  /** First version without the field. */
  readonly removal_in_version?: string;
  readonly replaced_with?: readonly { readonly path: readonly string[] }[];
}

/** The options of any field. */
export interface FieldOptions extends Attributes {
  /** A required field is never null: without a default it must be present. */
  readonly required?: boolean;
  /** Used when the field is missing; an explicit null restores it only for a required field. */
  readonly default?: unknown;
  /**
   * POST and PUT reject an explicit null although there is a default, as in Kong; a PATCH with null restores the
   * default.
   */
  readonly refuses_null?: boolean;
  /** Values of `one_of` that need a store which several nodes share: a node without a database refuses them. */
  readonly shared_store_values?: readonly string[];
  readonly description?: string;
  /** JSON Schema `pattern` of valid values, for documentation only; code validates them. */
  readonly pattern?: string;
  /** Unit of a quantity, for documentation: `ms`, `s`, `bytes`. */
  readonly unit?: string;
  /** Generated when not given: a UUID, a timestamp, or 32 random letters and digits. */
  readonly auto?: boolean;
  readonly unique?: boolean;
  /** May contain `{vault://...}`; such a value passes every constraint. */
  readonly referenceable?: boolean;
  /** A secret: never logged. */
  readonly encrypted?: boolean;
  readonly deprecation?: Deprecation;
  /** Accepted on input, but not a column of the entity: `snis` of a certificate. Omitted from the exported schema. */
  readonly virtual?: boolean;
  /**
   * Derived from other fields: responses contain it, an existing entity keeps its own whatever a client sends, and the
   * exported schema omits it, so that no form has it.
   */
  readonly computed?: boolean;
}

/** All metadata of a field in addition to its zod types. Names are Kong's, as they appear under `/schemas`. */
export interface FieldMeta extends FieldOptions {
  readonly type: FieldType;
  readonly required: boolean;
  readonly elements?: Field;
  readonly keys?: Field;
  readonly values?: Field;
  /** Schema name of the entity of a foreign field. */
  readonly reference?: string;
  readonly on_delete?: 'cascade' | 'restrict';
}

/**
 * One field of an entity or of a plugin's configuration. A single declaration provides the TypeScript type (`Infer`),
 * the validation and defaults (the zod types, whose messages are Kong's), and the content of `/schemas` and the
 * documentation.
 */
export interface Field<T = unknown> {
  /** As a field of a record: applies the default, and accepts null where the field may be unset. */
  readonly zod: z.ZodType<T>;
  /** As an element of an array, set or map: null is not allowed. */
  readonly value: z.ZodType<NonNullable<T>>;
  readonly meta: FieldMeta;
}
