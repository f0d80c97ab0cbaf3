/** Maximum characters of a schema as text. */
export const maxSchemaLength = 524_288;
