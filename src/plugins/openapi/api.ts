import type { JsonObject } from '../../plugin-sdk/index.ts';
import { SchemaError } from '../../plugin-sdk/json-schema/index.ts';
import { SchemaBundler } from './bundle-schema.ts';
import { compileOperation, type Operation } from './compile-operation.ts';
import { PathTable } from './path-table.ts';
import { readDocument, readDocumentFile } from './read-document.ts';
import { type OperationSource, readOperations } from './read-operations.ts';

/** An operation that is compiled when the first request for it comes: a document may have thousands. */
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

/** Reads the document. Throws a `SchemaError`. */
export function openApi(config: ApiConfig): Api {
  const document = documentOf(config);
  const bundler = new SchemaBundler(document);
  const table = new PathTable<LazyOperation>();
  for (const source of readOperations(document)) {
    const operation = lazily(source, () => compileOperation(document, source, (...args) => bundler.bundle(...args)));
    const basePaths = config.base_path === null ? source.basePaths : [config.base_path.replace(/\/$/, '')];
    for (const base of basePaths) table.add(base + source.template, source.method, operation, source.pointer);
  }
  return { document, table };
}

/** What is wrong with the document, all of it; null: nothing. For the control plane. */
export function apiProblem(config: ApiConfig): string | null {
  try {
    const { document } = openApi(config);
    const bundler = new SchemaBundler(document);
    for (const source of readOperations(document)) {
      compileOperation(document, source, (...args) => bundler.checked(...args));
    }
    return null;
  } catch (error) {
    if (error instanceof SchemaError) return error.message;
    throw error;
  }
}

function documentOf({ document, file }: ApiConfig): JsonObject {
  if (document !== null) return readDocument(document);
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
