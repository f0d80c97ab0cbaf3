/** Writes DER, for plugins that make certificates or requests for them. */
export * from '../util/der.ts';
