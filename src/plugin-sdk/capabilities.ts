/**
 * What a plugin reaches outside of the requests that it handles. `network`: connections of its own. `store`: entities of its own, or
 * writes to entities. `files`: files, or other programs. `env`: environment variables.
 */
export type PluginCapability = 'network' | 'store' | 'files' | 'env';

export const capabilityNames: readonly PluginCapability[] = Object.freeze(['network', 'store', 'files', 'env']);
