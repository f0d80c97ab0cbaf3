/**
 * XML documents: `sluicegate/plugin-kit/xml`. `parseXml` reads strictly and within limits, without `DOCTYPE`; `xmlText` writes;
 * `xmlToJson` and `jsonToXml` convert by the rules of the plugin `xml-json`.
 */

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
export { defaultXmlLimits, type ParseXmlOptions, parseXml, type XmlLimits } from './xml-parse.ts';
export { checkXmlPath, type PathState, pathStates, XmlPathError } from './xml-paths.ts';
export { elementsToJson, type XmlToJsonOptions, xmlToJson } from './xml-to-json.ts';
export {
  attributeOf,
  childElements,
  isNamespaceDeclaration,
  ownText,
  schemaInstanceNamespace,
  type XmlAttribute,
  type XmlComment,
  type XmlDocument,
  type XmlElement,
  type XmlInstruction,
  type XmlNode,
  type XmlText,
  xmlNamespace,
  xmlnsNamespace,
} from './xml-tree.ts';
export { type XmlTextOptions, xmlText } from './xml-write.ts';
