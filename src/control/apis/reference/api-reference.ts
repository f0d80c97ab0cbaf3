/*
 * A document as readers need it: only the known fields, texts that are texts, and each shared part once, with references to it. Maps of the
 * document are lists of entries, so that no name of a hostile document is a key of an object.
 */

/** A schema, `true` or `false` of JSON Schema, or a reference to one in `schemas`. */
export type SchemaView = boolean | { readonly ref: string } | SchemaFields;

export interface SchemaFields {
  /** `string`, `integer or null`; null: any. */
  readonly type: string | null;
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;
  /** Limits and rules in words: `at most 10 characters`. */
  readonly rules?: readonly string[];
  /** As JSON. */
  readonly values?: readonly string[];
  readonly fallback?: string;
  readonly example?: string;
  readonly deprecated?: true;
  readonly readOnly?: true;
  readonly writeOnly?: true;
  readonly properties?: readonly PropertyView[];
  readonly items?: SchemaView;
  /** Of properties that are not listed. */
  readonly others?: SchemaView;
  /** `all of`, `any of`, `one of`, `not`. */
  readonly choices?: readonly { readonly kind: string; readonly schemas: readonly SchemaView[] }[];
}

export interface PropertyView {
  readonly name: string;
  readonly required: boolean;
  readonly schema: SchemaView;
}

export interface ParameterView {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly deprecated: boolean;
  readonly description: string | null;
  readonly schema: SchemaView;
  readonly example: string | null;
}

export interface ContentView {
  readonly type: string;
  readonly schema: SchemaView;
  readonly examples: readonly { readonly name: string; readonly value: string }[];
}

export interface ResponseView {
  /** `200`, `4XX`, `default`. */
  readonly status: string;
  readonly description: string | null;
  readonly content: readonly ContentView[];
  readonly headers: readonly { readonly name: string; readonly description: string | null }[];
}

export interface OperationView {
  /** In upper case. */
  readonly method: string;
  /** Of the server and the template: `/v1/users/{id}`. */
  readonly path: string;
  readonly id: string | null;
  readonly summary: string | null;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly deprecated: boolean;
  readonly parameters: readonly ParameterView[];
  readonly body: {
    readonly required: boolean;
    readonly description: string | null;
    readonly content: readonly ContentView[];
  } | null;
  readonly responses: readonly ResponseView[];
  /** Names of the security schemes of the document. The gateway's own demands are separate. */
  readonly security: readonly string[];
}

export interface ApiReference {
  readonly title: string | null;
  readonly version: string | null;
  readonly description: string | null;
  readonly tags: readonly { readonly name: string; readonly description: string | null }[];
  readonly operations: readonly OperationView[];
  /** The schemas that are referred to, by their place. */
  readonly schemas: readonly (readonly [ref: string, schema: SchemaView])[];
}

export type BuiltReference =
  | { readonly ok: true; readonly reference: ApiReference }
  | { readonly ok: false; readonly message: string };
