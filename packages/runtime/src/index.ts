export * from './capability.ts';
export * from './session/index.ts';
