/** Levels of objects and lists. The deepest schema has about ten. */
export const maxDepth = 64;

/** Anchors of YAML that a document may refer to, in total. */
export const maxAliases = 100_000;

/** Keys that `<<` may copy, in total. */
export const maxMergedKeys = 1_000_000;

/**
 * Values that aliases may add to those in the text. Nine lines of aliases can mean a billion values, which cost nothing until something
 * visits them all.
 */
export const maxAliasedValues = 1_000_000;
