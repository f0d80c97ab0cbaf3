/**
 * OpenAPI documents: `sluicegate/plugin-kit/openapi`. `readDocument` reads one of version 3.0 or 3.1 within bounds, `readOperations` lists its
 * operations, `openApi` compiles it for the validation of requests, and `apiProblem` says what is wrong with one.
 *
 * The subpath loads the validator of JSON Schema, so import it where it is needed only.
 */

export { type Api, type ApiConfig, apiProblem, type LazyOperation, openApi } from './api.ts';
export type { BodyRule, Operation } from './compile-operation.ts';
export { largestDocument } from './largest-document.ts';
export type { PathMatch } from './path-table.ts';
export { readDocument } from './read-document.ts';
export { type OperationSource, readOperations, serverPath, serverUrl } from './read-operations.ts';
export { type Located, lookUp, resolved } from './references.ts';
