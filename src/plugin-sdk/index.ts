/** What a plugin may import at run time. Field types for its schema are in `schema.ts`, the harness in `testing.ts`. */

export { compileRegex } from '../util/linear-regex.ts';
export { contextKey } from './context-key.ts';
export type * from './contexts.ts';
export type * from './define-plugin.ts';
export { allProtocols, definePlugin, httpProtocols } from './define-plugin.ts';
export { type IpSet, ipSet } from './ip-set.ts';
export type * from './reply.ts';
export { refuse, reply, replyJson } from './reply.ts';
