import type { JsonObject } from '../json/index.ts';
import { SchemaError } from '../json-schema/index.ts';
import { offThread } from '../runtime/index.ts';
import { type Direction, SchemaBundler } from './bundle-schema.ts';
import { compileOperation, type Operation } from './compile-operation.ts';
import { PathTable } from './path-table.ts';
import { isYaml, readDocument, readDocumentFile } from './read-document.ts';
import { type OperationSource, readOperations } from './read-operations.ts';

/** An operation that is compiled on its first request: a document may have thousands. */
export interface LazyOperation {
  readonly source: OperationSource;
  compiled(): Operation;
}

/** A document, ready for requests. */
export interface Api {
  readonly document: JsonObject;
  readonly table: PathTable<LazyOperation>;
}

export interface ApiConfig {
  readonly document: string | null;
  readonly file: string | null;
  readonly base_path: string | null;
}

/** Reads the document, a large one in YAML in a thread of its own. Throws or rejects with an error that names the problem. */
export function openApi(config: ApiConfig): Api | Promise<Api> {
  const text = textOf(config);
  if (text.length < slowYaml || !isYaml(text)) return apiOf(readDocument(text), config);
  return readApart(text).then((document) => apiOf(document, config));
}

/** Characters beyond which YAML is parsed in another thread: about 2 us each. */
const slowYaml = 16_384;
const readApart = offThread<[string], JsonObject>(new URL('./read-document.ts', import.meta.url), 'readDocument', {
  deadline: 60_000,
});

function apiOf(document: JsonObject, config: ApiConfig): Api {
  const bundlers = bundlersOf(document);
  const table = new PathTable<LazyOperation>();
  for (const source of readOperations(document)) {
    const operation = lazily(source, () =>
      compileOperation(document, source, (place, way) => bundlers[way].bundle(place)),
    );
    const basePaths = config.base_path === null ? source.basePaths : [config.base_path.replace(/\/$/, '')];
    for (const base of basePaths) table.add(base + source.template, source.method, operation, source.pointer);
  }
  return { document, table };
}

/** Checks the whole document; null: valid. For the control plane. */
export function apiProblem(config: ApiConfig): string | null {
  if (config.document === null) return newProblem(config);
  // The plugin is checked on each change of it, and a large document takes a second.
  const key = `${config.base_path ?? ''} ${config.document}`;
  if (key !== lastKey) {
    lastProblem = newProblem(config);
    lastKey = key;
  }
  return lastProblem;
}

let lastKey = '';
let lastProblem: string | null = null;

function newProblem(config: ApiConfig): string | null {
  try {
    const document = readDocument(textOf(config));
    // Adding all paths to the table finds ambiguous ones.
    apiOf(document, config);
    const bundlers = bundlersOf(document);
    for (const source of readOperations(document)) {
      compileOperation(document, source, (place, way) => bundlers[way].checked(place));
    }
    return null;
  } catch (error) {
    if (error instanceof SchemaError) return error.message;
    throw error;
  }
}

function bundlersOf(document: JsonObject): Readonly<Record<Direction, SchemaBundler>> {
  return { request: new SchemaBundler(document, 'request'), response: new SchemaBundler(document, 'response') };
}

function textOf({ document, file }: ApiConfig): string {
  if (document !== null) return document;
  if (file !== null) return readDocumentFile(file);
  throw new SchemaError('', 'there is no document');
}

function lazily(source: OperationSource, compile: () => Operation): LazyOperation {
  let operation: Operation | null = null;
  return {
    source,
    compiled() {
      operation ??= compile();
      return operation;
    },
  };
}
