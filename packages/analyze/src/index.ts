export { type Difference, firstDifference } from './difference.ts';
