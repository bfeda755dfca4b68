export { type AgentTest, type AgentTestOptions, agentTests } from './agent-tests.ts';
export { type Approved, approveSpec } from './approve.ts';
export { checkSession, type Failure } from './check.ts';
export { draftSpec } from './draft.ts';
export { type Reporter, reporters, reportTests } from './report.ts';
export { runTest, type TestResult } from './run-test.ts';
export { type Expectations, formatSpec, type Normaliser, parseSpec, type Spec } from './spec.ts';
