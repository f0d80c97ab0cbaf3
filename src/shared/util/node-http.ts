/**
 * `node:http`, for values; types are imported as usual. An `import` of it reads all its exports, and reading `WebSocket` loads
 * undici: 9 MB and 25 ms in each thread, for nothing.
 */
export const nodeHttp = process.getBuiltinModule('node:http');
