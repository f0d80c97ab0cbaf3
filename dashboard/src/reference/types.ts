/** What `GET /apis/{id}/reference` and the portal answer. All texts come from a document that nobody has checked. */
export type SchemaView = boolean | { readonly ref: string } | SchemaFields;

export interface SchemaFields {
  readonly type: string | null;
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;
  readonly rules?: readonly string[];
  readonly values?: readonly string[];
  readonly fallback?: string;
  readonly example?: string;
  readonly deprecated?: true;
  readonly readOnly?: true;
  readonly writeOnly?: true;
  readonly properties?: readonly { readonly name: string; readonly required: boolean; readonly schema: SchemaView }[];
  readonly items?: SchemaView;
  readonly others?: SchemaView;
  readonly choices?: readonly { readonly kind: string; readonly schemas: readonly SchemaView[] }[];
}

export interface Content {
  readonly type: string;
  readonly schema: SchemaView;
  readonly examples: readonly { readonly name: string; readonly value: string }[];
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly id: string | null;
  readonly summary: string | null;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly deprecated: boolean;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly deprecated: boolean;
    readonly description: string | null;
    readonly schema: SchemaView;
    readonly example: string | null;
  }[];
  readonly body: {
    readonly required: boolean;
    readonly description: string | null;
    readonly content: readonly Content[];
  } | null;
  readonly responses: readonly {
    readonly status: string;
    readonly description: string | null;
    readonly content: readonly Content[];
    readonly headers: readonly { readonly name: string; readonly description: string | null }[];
  }[];
  readonly security: readonly string[];
  /** Of the gateway, for admins; null: no route carries it. In the portal it is missing. */
  readonly route?: { readonly id: string; readonly name: string | null } | null;
  readonly hosts: readonly string[];
  /** Position in the list of demands. */
  readonly demands: number;
}

export interface Demands {
  readonly auth: readonly { readonly plugin: string; readonly title: string; readonly places: readonly string[] }[];
  readonly needs: 'all' | 'any';
  readonly optional: boolean;
  readonly groups?: { readonly kind: 'allow' | 'deny'; readonly names: readonly string[] } | null;
  readonly limits: readonly {
    readonly plugin: string;
    readonly limit: number;
    readonly unit: string;
    readonly per: string | null;
  }[];
}

export interface Reference {
  readonly title: string | null;
  readonly version: string | null;
  readonly description: string | null;
  readonly tags: readonly { readonly name: string; readonly description: string | null }[];
  readonly operations: readonly Operation[];
  readonly schemas: readonly (readonly [ref: string, schema: SchemaView])[];
  readonly demands: readonly Demands[];
}
