/**
 * Templates over requests and responses: `sluicegate/plugin-kit/templates`. `compileTemplate` in `setup`, `templateProblem` in
 * the schema. Also what the transformers share: rules of the form `name:value` and their validation.
 *
 * @example
 * const key = compileTemplate("$(consumer.username or client.ip)"); // in setup
 * const text = key.render(context); // in access
 */

export {
  compileTemplate,
  sharedValues,
  type Template,
  type TemplateContext,
  TemplateError,
  TemplateFailure,
  type TemplateOptions,
  type TemplateTarget,
  templateProblem,
  unsafePath,
} from './templates.ts';
export {
  argumentProblem,
  argumentRenameProblem,
  fieldProblem,
  fieldRenameProblem,
  hasControl,
  headerRenameProblem,
  headerValueProblem,
  isHost,
  isPluginsHeader,
  jsonValueProblem,
  uriProblem,
} from './transform-problems.ts';
export {
  headerText,
  namedFields,
  namedValues,
  resolved,
  TransformValues,
  type ValueRule,
  type ValueSource,
} from './transform-values.ts';
