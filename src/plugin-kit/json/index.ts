export { bodyFault, changeJson } from './apply-json-changes.ts';
export { BodySyntaxError, positionIn, type TextPosition } from './body-syntax-error.ts';
export {
  isJsonNumber,
  isJsonObject,
  type JsonArray,
  type JsonNumber,
  type JsonObject,
  type JsonOptions,
  type JsonScalar,
  type JsonValue,
  jsonText,
  parseJson,
  setMember,
} from './json.ts';
export { changeJsonBody, type JsonChange, JsonValueError, type JsonValueType, jsonValue } from './json-changes.ts';
export { type JsonField, jsonField, jsonFieldProblem } from './json-field.ts';
export { hasRepeatedNames } from './json-names.ts';
export { compileJsonPath, compileJsonPathBelow, isRfc9535, rfc9535Path } from './json-path.ts';
export { type JsonPath, JsonPathError } from './json-path-types.ts';
export { compileJsonPaths, JsonPathState, type JsonPaths } from './json-path-walk.ts';
export { type SeenDocument, seenByFilters } from './json-seen.ts';
export { type JsonBody, readJsonBody } from './read-json-body.ts';
