export type { ChainLink, End } from './chain.ts';
export { type Block, type Context, context } from './context.ts';
export { type Correction, corrections } from './correction.ts';
export { type Cost, cost, type RunCost, type StepCost } from './cost.ts';
export { type Derived, isDerived } from './derived.ts';
export { type Diff, diff, type Row, type RunSummary } from './diff.ts';
export { type Difference, firstDifference } from './difference.ts';
export { type Edge, edges } from './edges.ts';
export { explain } from './explain.ts';
export { forward } from './forward.ts';
export type { Link } from './hops.ts';
export { type Birth, isSupported, type Lineage, lineage } from './lineage.ts';
export type { Form } from './match.ts';
export type { Label } from './origins.ts';
export type { Place, Span } from './place.ts';
export { prompt } from './prompt.ts';
export { slice } from './slice.ts';
export { valuesBelow } from './spots.ts';
export { type Statuses, statuses, statusText } from './statuses.ts';
export type { Symptom } from './symptom.ts';
export { estimateTokens, messageTokens, toolTokens } from './tokens.ts';
export {
  type Cause,
  type Note,
  type RunHead,
  type Suspicion,
  type Why,
  type WhyOptions,
  why,
} from './why.ts';
