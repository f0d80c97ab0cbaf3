export type JsonObject = { readonly [name: string]: unknown };
