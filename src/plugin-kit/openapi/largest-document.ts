/** Maximum bytes of a document. */
export const largestDocument = 4_194_304;
