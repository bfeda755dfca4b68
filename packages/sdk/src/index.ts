export { type ContextCalls, invokeContext } from './context.ts';
export { forgetGroup, guardGroup, type Launcher, launcherOf } from './group-watch.ts';
export { type Handlers, handlersOf, runHandler } from './handlers.ts';
export { jsonValue } from './json-value.ts';
export * from './plugin.ts';
export { failure, success } from './result.ts';
export { serve, servePlugin } from './serve.ts';
export { frameIn } from './stack-frame.ts';
