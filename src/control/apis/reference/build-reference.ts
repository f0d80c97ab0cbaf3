import { isJsonObject, type JsonObject, type JsonValue } from '../../../plugin-kit/json/index.ts';
import { SchemaError } from '../../../plugin-kit/json-schema/index.ts';
import { type OperationSource, readDocument, readOperations, resolved } from '../../../plugin-kit/openapi/index.ts';
import type {
  ApiReference,
  BuiltReference,
  ContentView,
  OperationView,
  ParameterView,
  ResponseView,
} from './api-reference.ts';
import { SchemaViews } from './schema-view.ts';
import { namesOf } from './security-names.ts';
import { shownValue, textIn } from './shown-values.ts';

/** Maximum characters of a reference as JSON. Parameters and responses that are shared are part of each operation. */
const maxReference = 8_388_608;
const maxListed = 100;

/** Reads a stored document. Takes up to seconds: run it in another thread. */
export function buildReference(text: string): BuiltReference {
  try {
    const reference = referenceOf(readDocument(text));
    if (JSON.stringify(reference).length > maxReference)
      throw new SchemaError('', 'its reference is too large to show');
    return { ok: true, reference };
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return { ok: false, message: error.message };
  }
}

function referenceOf(document: JsonObject): ApiReference {
  const views = new SchemaViews(document);
  const info = isJsonObject(document['info']) ? document['info'] : {};
  let size = 0;
  const operations = readOperations(document).map((source) => {
    const view = operationOf(document, source, views);
    size += JSON.stringify(view).length;
    if (size > maxReference) throw new SchemaError(source.pointer, 'the reference is too large to show');
    return view;
  });
  return {
    title: textIn(info, 'title'),
    version: textIn(info, 'version'),
    description: textIn(info, 'description'),
    tags: tagsOf(document),
    operations,
    schemas: views.shared(),
  };
}

function tagsOf({ tags }: JsonObject): ApiReference['tags'] {
  if (!Array.isArray(tags)) return [];
  return tags.flatMap((tag) => {
    const name = isJsonObject(tag) ? textIn(tag, 'name') : null;
    return name === null ? [] : [{ name, description: textIn(tag as JsonObject, 'description') }];
  });
}

function operationOf(document: JsonObject, source: OperationSource, views: SchemaViews): OperationView {
  const { operation, method, template, basePaths, id, parameters, pointer } = source;
  const body = operation['requestBody'];
  return {
    method,
    path: (basePaths[0] ?? '') + template,
    id,
    summary: textIn(operation, 'summary'),
    description: textIn(operation, 'description'),
    tags: Array.isArray(operation['tags']) ? operation['tags'].filter((tag) => typeof tag === 'string') : [],
    deprecated: operation['deprecated'] === true,
    parameters: parameters.slice(0, maxListed).map(({ value }) => parameterOf(document, value, views)),
    body: body === undefined ? null : bodyOf(document, body, `${pointer}/requestBody`, views),
    responses: responsesOf(document, source, views),
    security: [...new Set(namesOf(operation['security'] ?? document['security']))],
  };
}

function parameterOf(document: JsonObject, value: JsonObject, views: SchemaViews): ParameterView {
  const [content] = contentOf(document, value['content'], '', views);
  const { example } = value;
  return {
    name: textIn(value, 'name') ?? '',
    in: textIn(value, 'in') ?? '',
    required: value['required'] === true,
    deprecated: value['deprecated'] === true,
    description: textIn(value, 'description'),
    schema: content === undefined ? views.of(value['schema']) : content.schema,
    example: example === undefined ? null : shownValue(example),
  };
}

function bodyOf(
  document: JsonObject,
  body: JsonValue,
  pointer: string,
  views: SchemaViews,
): NonNullable<OperationView['body']> {
  const { value } = resolved(document, { value: body, pointer });
  return {
    required: value['required'] === true,
    description: textIn(value, 'description'),
    content: contentOf(document, value['content'], pointer, views),
  };
}

function responsesOf(document: JsonObject, { operation, pointer }: OperationSource, views: SchemaViews) {
  const { responses } = operation;
  if (!isJsonObject(responses)) return [];
  return entriesOf(responses).map(([status, response]): ResponseView => {
    const place = `${pointer}/responses/${status}`;
    const { value } = resolved(document, { value: response, pointer: place });
    const headers = entriesOf(value['headers']).map(([name, header]) => ({
      name,
      description: textIn(resolved(document, { value: header, pointer: place }).value, 'description'),
    }));
    return {
      status,
      description: textIn(value, 'description'),
      content: contentOf(document, value['content'], place, views),
      headers,
    };
  });
}

function contentOf(
  document: JsonObject,
  content: JsonValue | undefined,
  pointer: string,
  views: SchemaViews,
): readonly ContentView[] {
  return entriesOf(content).flatMap(([type, media]) => {
    if (!isJsonObject(media)) return [];
    return [{ type, schema: views.of(media['schema']), examples: examplesOf(document, media, pointer) }];
  });
}

function examplesOf(document: JsonObject, media: JsonObject, pointer: string): ContentView['examples'] {
  const { example } = media;
  if (example !== undefined) return [{ name: 'example', value: shownValue(example) }];
  return entriesOf(media['examples']).flatMap(([name, one]) => {
    const { value } = resolved(document, { value: one, pointer });
    return value['value'] === undefined ? [] : [{ name, value: shownValue(value['value']) }];
  });
}

/** Extensions have no meaning for readers, and may contain what is not for them. */
function entriesOf(value: JsonValue | undefined): readonly (readonly [string, JsonValue])[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value)
    .filter(([name]) => !name.startsWith('x-'))
    .slice(0, maxListed);
}
