/** What plugins that read XML import; beside `index.ts`, so that those that do not are spared the parser. */

export { jsonToXml } from './json-to-xml.ts';
export {
  type BodyFault,
  bodyFault,
  requestFaultStatus,
  XmlEncodingError,
  XmlLimitError,
  XmlMappingError,
} from './xml-errors.ts';
export { type CompiledXmlMapping, compileXmlMapping, type XmlMapping } from './xml-mapping.ts';
export { isNcName, isQName } from './xml-names.ts';
export { type ParseXmlOptions, parseXml, usualXmlLimits, type XmlLimits } from './xml-parse.ts';
export { checkXmlPath, type PathState, pathStates, XmlPathError } from './xml-paths.ts';
export { elementsToJson, type XmlToJsonOptions, xmlToJson } from './xml-to-json.ts';
export * from './xml-tree.ts';
export { type XmlTextOptions, xmlText } from './xml-write.ts';
