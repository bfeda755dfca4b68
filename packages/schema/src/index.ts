export { checkDocument, expectDocument, withPlace } from './check.ts';
export {
  type DocumentLimits,
  type Place,
  parseDocument,
  readDocument,
  type SourceDocument,
} from './document.ts';
export {
  describe,
  type Issue,
  invalid,
  issuesOf,
  issueText,
  pointerKeys,
  pointerToken,
  shown,
} from './issue.ts';
export { didYouMean, nearest } from './nearest.ts';
export { type Check, checkOf, checkSchema, compileSchema, type SchemaDocument } from './validate.ts';
