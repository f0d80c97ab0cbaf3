/** Characters of a schema as text. */
export const longestSchema = 524_288;
